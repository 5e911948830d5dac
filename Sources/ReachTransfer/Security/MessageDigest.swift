internal import CCurl

/// Digests of bytes by OpenSSL.
package enum MessageDigest {
    /// - Returns: The SHA-256 digest; `nil` where OpenSSL has none.
    package static func sha256(_ bytes: [UInt8]) -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: 32)
        return EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil) == 1 ? digest : nil
    }
}
