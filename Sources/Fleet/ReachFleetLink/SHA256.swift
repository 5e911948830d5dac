internal import CNats

/// The hash SHA-256 by OpenSSL, which libnats links: for identities that say nothing about what they are made of.
package enum SHA256 {
    package static func hash(_ message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        guard EVP_Digest(message, message.count, &digest, nil, EVP_sha256(), nil) == 1 else {
            preconditionFailure("OpenSSL has no SHA-256")
        }
        return digest
    }

    /// HMAC (RFC 2104).
    package static func authenticate(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        var key = key.count > 64 ? hash(key) : key
        key += [UInt8](repeating: 0, count: 64 - key.count)
        return hash(key.map { $0 ^ 0x5c } + hash(key.map { $0 ^ 0x36 } + message))
    }

    /// The first bytes as hexadecimal digits.
    package static func digits(of hash: [UInt8], bytes: Int) -> String {
        hash.prefix(bytes).reduce(into: "") { $0 += ($1 < 16 ? "0" : "") + String($1, radix: 16) }
    }
}
