internal import CCurl

/// OpenSSL's hash functions.
package enum MessageDigest: Hashable, Sendable, CaseIterable {
    case md5
    case sha256
    case sha512_256

    /// - Returns: The digest; `nil` where this machine's OpenSSL forbids the function, as FIPS 140 forbids MD5, or is
    ///   missing.
    package func digest(_ bytes: [UInt8]) -> [UInt8]? {
        var (digest, count) = ([UInt8](repeating: 0, count: 64), UInt32(0))
        guard CurlRuntime.whyUnusable == nil,
            EVP_Digest(bytes, bytes.count, &digest, &count, function, nil) == 1
        else { return nil }
        return Array(digest.prefix(Int(count)))
    }

    /// The digest in lower-case hexadecimal digits.
    package func hexadecimal(_ text: String) -> String? {
        digest(Array(text.utf8))?.map { byte in
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
