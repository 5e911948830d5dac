import ReachCore
import ReachTesting
import Testing

@testable import ReachTransfer

/// Which certificates of a server are read.
@Suite(.enabled(if: CertificateAuthority.isAvailable, "\(CertificateAuthority.whyNot)"), .timeLimit(.minutes(1)))
struct CertificateBoundsTests {
    private static let authority = Result { try CertificateAuthority() }

    private func bytes(_ file: String, _ options: [String]) throws -> [UInt8] {
        let identity = try Self.authority.get().issue(file, names: ["DNS:a.example"], options)
        return try #require(CertificateData(pem: identity.certificatePEM)).bytes
    }

    private static func curve(_ name: String) -> [String] {
        ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(name)"]
    }

    @Test(arguments: [
        ("p256", curve("P-256"), nil), ("p384", curve("P-384"), nil), ("p521", curve("P-521"), nil),
        ("brainpool", curve("brainpoolP384r1"), nil), ("ed25519", ["-algorithm", "ED25519"], nil),
        ("ed448", ["-algorithm", "ED448"], nil),
        ("rsa", ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], nil),
        ("pss", ["-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048"], nil),
        (
            "exponent-33", ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_pubexp:4294967297"], nil
        ),
        (
            "exponent-34", ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_pubexp:8589934593"],
            "a certificate's exponent has 34 bits; 33 are read"
        ),
        ("p224", curve("P-224"), other), ("binary", curve("sect571r1"), other),
        ("explicit", curve("P-256") + ["-pkeyopt", "ec_param_enc:explicit"], other),
    ])
    func `keys whose signatures are quickly verified are read`(file: String, options: [String], fault: String?) throws {
        #expect(CertificateBounds.fault(of: [try bytes(file, options)]) == fault)
    }

    private static let other = "a certificate's key is of a kind that is not read"

    @Test func `a key of more than 8192 bits is not read`() {
        #expect(CertificateBounds.fault(of: [Self.certificate(modulus: 1024)]) == nil)
        #expect(
            CertificateBounds.fault(of: [Self.certificate(modulus: 1025)])
                == "a certificate's key has 8200 bits; 8192 are read")
    }

    /// A certificate of RSA with a modulus of so many bytes, as far as its key.
    private static func certificate(modulus: Int) -> [UInt8] {
        func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
            let count = content.count
            if count < 128 { return [tag, UInt8(count)] + content }
            if count < 256 { return [tag, 0x81, UInt8(count)] + content }
            return [tag, 0x82, UInt8(count >> 8), UInt8(count & 255)] + content
        }
        let number = element(2, [0] + [UInt8](repeating: 0xFF, count: modulus))
        let pair = element(0x30, number + element(2, [1, 0, 1]))
        let kind = element(0x30, element(6, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1]) + [5, 0])
        let before = element(2, [1]) + element(0x30, []) + element(0x30, []) + element(0x30, []) + element(0x30, [])
        let body = element(0x30, before + element(0x30, kind + element(3, [0] + pair)))
        return element(0x30, body + element(0x30, []) + element(3, [0]))
    }

    @Test func `a message is read with ten certificates, in both versions of TLS`() throws {
        let one = try bytes("one", CertificateAuthority.usualKey)
        func length(_ count: Int) -> [UInt8] { [UInt8(count >> 16), UInt8(count >> 8 & 255), UInt8(count & 255)] }
        func message(_ count: Int, isTLS13: Bool) -> [UInt8] {
            let entry = length(one.count) + one + (isTLS13 ? [0, 0] : [])
            let list = Array(repeatElement(entry, count: count).joined())
            return (isTLS13 ? [0] : []) + length(list.count) + list
        }
        for isTLS13 in [false, true] {
            #expect(CertificateBounds.fault(ofMessage: message(10, isTLS13: isTLS13), isTLS13: isTLS13) == nil)
            #expect(
                CertificateBounds.fault(ofMessage: message(11, isTLS13: isTLS13), isTLS13: isTLS13)
                    == "the server sends more than 10 certificates")
            #expect(CertificateBounds.fault(ofMessage: message(1, isTLS13: !isTLS13), isTLS13: isTLS13) != nil)
            let cut = Array(message(2, isTLS13: isTLS13).dropLast())
            #expect(CertificateBounds.fault(ofMessage: cut, isTLS13: isTLS13) != nil)
        }
        #expect(CertificateBounds.fault(ofMessage: [], isTLS13: false) != nil)
    }

    /// What cannot be read as DER is not given to OpenSSL, which reads more than that.
    @Test func `a certificate that is cut, or not in DER, is not read, and none of any bytes traps`() throws {
        let whole = try bytes("whole", CertificateAuthority.usualKey)
        for count in 0..<whole.count { #expect(CertificateBounds.fault(of: [Array(whole[..<count])]) != nil) }
        #expect(CertificateBounds.fault(of: [whole + [0]]) != nil)
        // An indefinite length.
        #expect(CertificateBounds.fault(of: [[0x30, 0x80] + whole[4...] + [0, 0]]) != nil)
        var random = SplitMix64(seed: 47)
        for _ in 0..<20_000 {
            var changed = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<min(changed.count, 300), using: &random)
                changed[place] = .random(in: 0...255, using: &random)
            }
            _ = CertificateBounds.fault(of: [changed])
        }
    }
}
