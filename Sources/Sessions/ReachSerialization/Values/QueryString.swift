internal import ReachCore

/// Encodes parameters as a query, or as the body of a form (`application/x-www-form-urlencoded`), as AFNetworking 4
/// does.
///
/// Everything except letters, digits and `-._~/?` is escaped: of RFC 3986's reserved characters only "/" and "?" stay,
/// which are allowed in a query (section 3.4). So the brackets of nested names become `%5B` and `%5D`, and a space
/// becomes `%20`, never "+". Text is escaped byte by byte as UTF-8, so that no character is ever split; data is escaped
/// as it is.
public enum QueryString {
    /// Encodes parameters as `name=value` pairs joined by `&`; null gives only the name.
    ///
    /// - Returns: An empty text for empty parameters.
    public static func text(of parameters: [String: ParameterValue]) -> String {
        text(of: ParameterPair.pairs(of: parameters))
    }

    static func text(of pairs: [ParameterPair]) -> String {
        text(
            of: pairs.map {
                EncodedPair(name: Array($0.name.utf8), value: $0.value == .null ? nil : $0.value.plainBytes)
            })
    }

    static func text(of pairs: [EncodedPair]) -> String {
        var bytes: [UInt8] = []
        for (index, pair) in pairs.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "&")) }
            append(pair.name, to: &bytes)
            guard let value = pair.value else { continue }
            bytes.append(UInt8(ascii: "="))
            append(value, to: &bytes)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Escapes a name or a value of a query.
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
