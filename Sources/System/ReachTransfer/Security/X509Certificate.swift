internal import CCurl
internal import Glibc
internal import ReachCore

extension PeerCertificate {
    /// Reads OpenSSL's X509; `nil` if it cannot be read.
    init?(_ certificate: OpaquePointer, verification: Int32) {
        guard let validFrom = Self.time(X509_get0_notBefore(certificate)),
            let validUntil = Self.time(X509_get0_notAfter(certificate)),
            let publicKey = Self.publicKeyDigest(certificate)
        else { return nil }
        self.init(
            validFrom: validFrom, validUntil: validUntil, subject: Self.text(X509_get_subject_name(certificate)),
            issuer: Self.text(X509_get_issuer_name(certificate)), names: Self.names(certificate),
            publicKeyFingerprint: publicKey, verification: verification)
    }

    /// The certificate's DER form.
    static func bytes(_ certificate: OpaquePointer) -> [UInt8] {
        var start: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509(certificate, &start)
        return copyAndFree(start, count)
    }

    /// SHA-256 of the SubjectPublicKeyInfo (RFC 7469 section 2.4).
    static func publicKeyDigest(_ certificate: OpaquePointer) -> SecurityPolicy.Digest? {
        var start: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &start)
        return digest(of: copyAndFree(start, count))
    }

    private static func copyAndFree(_ start: UnsafeMutablePointer<UInt8>?, _ count: CInt) -> [UInt8] {
        guard let start, count > 0 else { return [] }
        defer { CRYPTO_free(start, #file, #line) }
        return Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }

    private static func digest(of bytes: [UInt8]) -> SecurityPolicy.Digest? {
        guard !bytes.isEmpty else { return nil }
        var digest = [UInt8](repeating: 0, count: 32)
        guard EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil) == 1 else { return nil }
        return SecurityPolicy.Digest(bytes: digest)
    }

    private static func time(_ time: UnsafePointer<ASN1_TIME>?) -> Timestamp? {
        var parts = tm()
        guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        let (nanoseconds, overflow) = Int64(timegm(&parts)).multipliedReportingOverflow(by: 1_000_000_000)
        // 9999-12-31 stands for "never" (RFC 5280 section 4.1.2.5) and does not fit into 64 bits of nanoseconds.
        return Timestamp(nanosecondsSince1970: overflow ? .max : nanoseconds)
    }

    private static func text(_ name: OpaquePointer?) -> String {
        guard let name, let memory = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(memory) }
        reach_print_name(memory, name)
        var text: UnsafeMutablePointer<CChar>?
        let count = reach_memory_text(memory, &text)
        guard let text, count > 0 else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: text, count: count), as: UTF8.self)
    }

    private static func names(_ certificate: OpaquePointer) -> [String] {
        guard let extensionData = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return [] }
        let names = OpaquePointer(extensionData)
        defer { reach_names_free(names) }
        return (0..<reach_names_count(names)).compactMap { index in
            var start: UnsafePointer<UInt8>?
            var count: CInt = 0
            let kind = reach_name_bytes(reach_name_at(names, index), &start, &count)
            guard kind >= 0, let start else { return nil }
            let bytes = Array(UnsafeBufferPointer(start: start, count: Int(count)))
            return kind == GEN_IPADD ? IPAddress(bytes: bytes)?.description : String(decoding: bytes, as: UTF8.self)
        }
    }
}
