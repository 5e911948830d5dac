internal import ReachCore

/// Parameters as a query, or as the body of a form (`application/x-www-form-urlencoded`), as AFNetworking 4 writes
/// them.
///
/// Everything is escaped but letters, digits and `-._~/?`: of RFC 3986's reserved characters only "/" and "?", which
/// may stand in a query (section 3.4). So brackets of nested names are `%5B` and `%5D`, and a space is `%20`, never
/// "+". Text is escaped as UTF-8, byte by byte, so that no character is ever split; bytes are escaped as they are.
public enum QueryString {
    /// `name=value` for each pair, joined by `&`; the name alone where the value is null.
    ///
    /// - Returns: An empty text for empty parameters.
    public static func text(of parameters: [String: ParameterValue]) -> String {
        text(of: ParameterPair.pairs(of: parameters))
    }

    static func text(of pairs: [ParameterPair]) -> String {
        var bytes: [UInt8] = []
        for (index, pair) in pairs.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "&")) }
            append(pair.name.utf8, to: &bytes)
            if pair.value == .null { continue }
            bytes.append(UInt8(ascii: "="))
            append(pair.value.plainBytes, to: &bytes)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A name or a value of a query with everything escaped that has to be.
    public static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text.utf8, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func append(_ bytes: some Sequence<UInt8>, to escaped: inout [UInt8]) {
        for byte in bytes {
            if standsForItself(byte) {
                escaped.append(byte)
            } else {
                URLCharacters.appendEscape(of: byte, to: &escaped)
            }
        }
    }

    private static func standsForItself(_ byte: UInt8) -> Bool {
        URLCharacters.isUnreserved(byte) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?")
    }
}
