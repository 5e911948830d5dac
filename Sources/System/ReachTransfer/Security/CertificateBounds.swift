internal import ReachCore

/// Which certificates of a server are read at all.
///
/// OpenSSL reads the key of each one, trusted or not, within one step of the handshake, for which the whole loop waits.
/// Its own limits allow half a minute of that: a curve with parameters of its own and a compressed point takes it 200
/// ms, a point of P-224 half a millisecond, and an exponent of RSA may be as long as the modulus.
enum CertificateBounds {
    /// The longest list in bytes. Chains of the Web have less than 10 KiB.
    static let listBytes = 32 << 10
    /// The most certificates. Chains of the Web have two to four.
    private static let count = 10
    /// As in Go (golang/vulndb#1987).
    private static let keyBits = 8192
    /// Nearly all have 17; BoringSSL reads up to 33.
    private static let exponentBits = 33

    /// - Parameters:
    ///   - message: The handshake's message with the certificates, without its header (RFC 5246, 7.4.2; RFC 8446,
    ///     4.4.2).
    ///   - isTLS13: Whether each certificate has extensions.
    /// - Returns: Why they are not read, as a sentence; `nil` if they are.
    static func fault(ofMessage message: [UInt8], isTLS13: Bool) -> String? {
        var reader = LengthReader(message[...])
        if isTLS13, reader.next(1) == nil { return malformed }
        guard var list = reader.next(3).map(LengthReader.init), reader.isEmpty else { return malformed }
        var certificates: [[UInt8]] = []
        while !list.isEmpty, certificates.count <= count {
            guard let certificate = list.next(3), !isTLS13 || list.next(2) != nil else { return malformed }
            certificates.append(Array(certificate))
        }
        return fault(of: certificates)
    }

    /// - Parameter certificates: In DER form.
    static func fault(of certificates: [[UInt8]]) -> String? {
        guard certificates.count <= count else { return "the server sends more than \(count) certificates" }
        return certificates.lazy.compactMap { fault(of: $0) }.first
    }

    private static func fault(of certificate: [UInt8]) -> String? {
        guard let key = CertificateKey(of: certificate) else { return malformed }
        switch key {
        case .rsa(let bits, _) where bits > keyBits: return "a certificate's key has \(bits) bits; \(keyBits) are read"
        case .rsa(_, let exponentBits) where exponentBits > Self.exponentBits:
            return "a certificate's exponent has \(exponentBits) bits; \(Self.exponentBits) are read"
        case .rsa, .named: return nil
        case .other: return "a certificate's key is of a kind that is not read"
        }
    }

    private static let malformed = "the server's certificates are malformed"
}

/// The key of a certificate, as far as it says what a signature costs.
enum CertificateKey: Equatable {
    case rsa(bits: Int, exponentBits: Int)
    /// One on a curve, or of another kind, whose name says it all.
    case named
    case other

    /// Reads a certificate (RFC 5280, 4.1) as far as its key. Only DER is read.
    ///
    /// - Returns: `nil` if it is none.
    init?(of certificate: [UInt8]) {
        var outside = DERReader(certificate[...])
        guard var whole = outside.reader(in: .sequence), outside.isEmpty, var body = whole.reader(in: .sequence) else {
            return nil
        }
        _ = body.next(.version)
        let before: [DERReader.Tag] = [.integer, .sequence, .sequence, .sequence, .sequence]
        guard before.allSatisfy({ body.next($0) != nil }), var key = body.reader(in: .sequence),
            var algorithm = key.reader(in: .sequence), let kind = algorithm.next(.identifier),
            let bits = key.next(.bits), key.isEmpty, bits.first == 0
        else { return nil }
        if Self.rsaKinds.contains(Array(kind)) {
            var numbers = DERReader(bits.dropFirst())
            guard var pair = numbers.reader(in: .sequence), let modulus = pair.next(.integer),
                let exponent = pair.next(.integer)
            else { return nil }
            self = .rsa(bits: Self.bits(modulus), exponentBits: Self.bits(exponent))
        } else if Array(kind) == Self.curve {
            let name = algorithm.next(.identifier).map(Array.init)
            self = name.map(Self.curves.contains) == true && algorithm.isEmpty ? .named : .other
        } else {
            self = Self.otherKinds.contains(Array(kind)) ? .named : .other
        }
    }

    private static func bits(_ number: ArraySlice<UInt8>) -> Int {
        let digits = number.drop { $0 == 0 }
        return digits.first.map { digits.count * 8 - $0.leadingZeroBitCount } ?? 0
    }

    /// With PKCS #1's padding, and with PSS alone.
    private static let rsaKinds: Set<[UInt8]> = [
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1], [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 10],
    ]
    private static let curve: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1]
    /// P-256, P-384, P-521, and brainpool's of 256, 384 and 512 bits.
    private static let curves: Set<[UInt8]> = [
        [0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7], [0x2B, 0x81, 4, 0, 34], [0x2B, 0x81, 4, 0, 35],
        [0x2B, 0x24, 3, 3, 2, 8, 1, 1, 7], [0x2B, 0x24, 3, 3, 2, 8, 1, 1, 11], [0x2B, 0x24, 3, 3, 2, 8, 1, 1, 13],
    ]
    /// Ed25519, Ed448, and the three of ML-DSA.
    private static let otherKinds: Set<[UInt8]> = [
        [0x2B, 0x65, 0x70], [0x2B, 0x65, 0x71], [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, 17],
        [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, 18], [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, 19],
    ]
}

/// Reads parts that begin with their length.
private struct LengthReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isEmpty: Bool { rest.isEmpty }

    /// - Parameter width: The bytes of the length.
    mutating func next(_ width: Int) -> ArraySlice<UInt8>? {
        guard rest.count >= width else { return nil }
        let length = rest.prefix(width).reduce(0) { $0 << 8 | Int($1) }
        let part = rest.dropFirst(width).prefix(length)
        guard part.count == length else { return nil }
        rest = rest[part.endIndex...]
        return part
    }
}

/// Reads elements in DER (X.690): each length is definite, and as short as possible.
private struct DERReader {
    enum Tag: UInt8 {
        case integer = 2
        case bits = 3
        case identifier = 6
        case sequence = 0x30
        case version = 0xA0
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isEmpty: Bool { rest.isEmpty }

    mutating func reader(in tag: Tag) -> DERReader? { next(tag).map(DERReader.init) }

    /// - Returns: The content of the next element; `nil` if that is another one.
    mutating func next(_ tag: Tag) -> ArraySlice<UInt8>? {
        guard rest.first == tag.rawValue, let first = rest.dropFirst().first else { return nil }
        var (length, begin) = (Int(first), rest.startIndex + 2)
        if first >= 0x80 {
            let digits = rest[begin...].prefix(Int(first & 0x7F))
            guard 1...3 ~= digits.count, digits.count == Int(first & 0x7F), digits.first != 0 else { return nil }
            (length, begin) = (digits.reduce(0) { $0 << 8 | Int($1) }, digits.endIndex)
            guard length >= 0x80 else { return nil }
        }
        let content = rest[begin...].prefix(length)
        guard content.count == length else { return nil }
        rest = rest[content.endIndex...]
        return content
    }
}
