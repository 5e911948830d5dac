internal import CCurl

/// RFC 4648 section 4, by OpenSSL.
enum Base64 {
    static func decode(_ text: String) -> [UInt8]? {
        let input = Array(text.utf8)
        guard !input.isEmpty, input.count % 4 == 0 else { return nil }
        var output = [UInt8](repeating: 0, count: input.count / 4 * 3)
        let count = EVP_DecodeBlock(&output, input, CInt(input.count))
        guard count >= 0 else { return nil }
        let padding = input.suffix(2).count { $0 == UInt8(ascii: "=") }
        return Array(output.prefix(Int(count) - padding))
    }
}
