internal import CCurl

/// OpenSSL's hash functions that Digest authentication uses.
package enum MessageDigest: Hashable, Sendable, CaseIterable {
    case md5
    case sha256
    case sha512_256

    /// The digest in lower-case hexadecimal digits; `nil` where this machine's OpenSSL forbids the function, as FIPS 140
    /// forbids MD5.
    package func hexadecimal(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        var (digest, count) = ([UInt8](repeating: 0, count: 64), UInt32(0))
        guard CurlRuntime.whyUnusable == nil,
            EVP_Digest(bytes, bytes.count, &digest, &count, function, nil) == 1
        else { return nil }
        return digest.prefix(Int(count)).map { byte in
            let digits = String(byte, radix: 16)
            return byte < 16 ? "0" + digits : digits
        }.joined()
    }

    private var function: OpaquePointer? {
        switch self {
        case .md5: EVP_md5()
        case .sha256: EVP_sha256()
        case .sha512_256: EVP_sha512_256()
        }
    }
}
