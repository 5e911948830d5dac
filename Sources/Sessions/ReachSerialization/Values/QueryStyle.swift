internal import ReachCore

/// How names and values are written in queries and forms, for servers that expect something else than AFNetworking's
/// form: Alamofire's URLEncodedFormEncoder.
///
///     var style = QueryStyle()
///     style.arrays = .plain
///     serializer.queryEncoder = style.encoder
///
/// The default writes what ``QueryString`` writes. Dictionaries are ordered by key, whatever the style. Dates are
/// texts before a style sees them.
public struct QueryStyle: Sendable {
    /// The name of an element of the array `a`.
    public enum Arrays: Sendable {
        /// `a[]`.
        case brackets
        /// `a`.
        case plain
        /// `a[0]`, `a[1]` and so on.
        case indexed
        /// Any other, from the array's name and the element's index.
        case custom(@Sendable (_ name: String, _ index: Int) -> String)
    }

    /// The name of the member `b` of `a`.
    public enum Members: Sendable {
        /// `a[b]`.
        case brackets
        /// `a.b`.
        case dots
        /// Any other, from both names.
        case custom(@Sendable (_ name: String, _ key: String) -> String)
    }

    /// Booleans.
    public enum Booleans: Hashable, Sendable {
        /// `1` and `0`.
        case numbers
        /// `true` and `false`.
        case words
    }

    /// Null.
    public enum Nulls: Hashable, Sendable {
        /// The name alone.
        case name
        /// The name, and nothing after the equals sign.
        case empty
        /// The name, and `null`.
        case word
        /// Nothing at all.
        case dropped
    }

    /// Bytes.
    public enum Bytes: Hashable, Sendable {
        /// Each byte, escaped.
        case escaped
        /// Base64 (RFC 4648).
        case base64
    }

    /// Spaces.
    public enum Spaces: Hashable, Sendable {
        /// `%20`.
        case percent
        /// `+`.
        case plus
    }

    /// The names of an array's elements.
    public var arrays = Arrays.brackets
    /// The names of a dictionary's members.
    public var members = Members.brackets
    /// The form of booleans.
    public var booleans = Booleans.numbers
    /// The form of null.
    public var nulls = Nulls.name
    /// The form of bytes.
    public var bytes = Bytes.escaped
    /// The form of spaces.
    public var spaces = Spaces.percent
    /// Changes each key before names are made of it; `nil` leaves them. ``snakeCase`` is one.
    public var key: (@Sendable (String) -> String)?

    /// AFNetworking's style.
    public init() {}

    /// Changes `userName` and `URLPath` into `user_name` and `url_path`.
    public static let snakeCase: @Sendable (String) -> String = { key in
        var words: [String] = [""]
        let letters = Array(key)
        for (index, letter) in letters.enumerated() {
            let isAfterSmall = index > 0 && !letters[index - 1].isUppercase && letters[index - 1] != "_"
            let isBeforeSmall = index > 0 && index + 1 < letters.count && letters[index + 1].isLowercase
            if letter.isUppercase, words.last?.isEmpty == false, isAfterSmall || isBeforeSmall { words.append("") }
            words[words.count - 1] += letter.lowercased()
        }
        return words.joined(separator: "_")
    }

    /// Encodes parameters; an empty text for empty ones.
    public func text(of parameters: [String: ParameterValue]) -> String {
        let pairs = ParameterPair.pairs(of: parameters, self).compactMap(written)
        let text = QueryString.text(of: pairs)
        // A plus sign of a name or a value is escaped: what looks like an escaped space is one.
        guard spaces == .plus else { return text }
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.first {
            let isSpace = rest.starts(with: "%20".utf8)
            bytes.append(isSpace ? UInt8(ascii: "+") : byte)
            rest = rest.dropFirst(isSpace ? 3 : 1)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The style as the encoder of a ``FormRequestSerializer``, for queries and forms.
    public var encoder: FormRequestSerializer.QueryEncoder {
        { _, parameters in
            guard case .dictionary(let members) = parameters else { throw RequestSerializationError.notADictionary }
            return text(of: members)
        }
    }

    func name(of key: String, under name: String?) -> String {
        let key = self.key?(key) ?? key
        guard let name else { return key }
        return switch members {
        case .brackets: "\(name)[\(key)]"
        case .dots: "\(name).\(key)"
        case .custom(let make): make(name, key)
        }
    }

    func name(ofElement index: Int, of name: String) -> String {
        switch arrays {
        case .brackets: name + "[]"
        case .plain: name
        case .indexed: "\(name)[\(index)]"
        case .custom(let make): make(name, index)
        }
    }

    /// - Returns: `nil` for a value that is not written.
    private func written(_ pair: ParameterPair) -> ParameterPair? {
        let value: ParameterValue =
            switch pair.value {
            case .bool(let flag) where booleans == .words: .string(flag ? "true" : "false")
            case .data(let data) where bytes == .base64: .string(Base64.encode(data))
            case .null where nulls == .empty: .string("")
            case .null where nulls == .word: .string("null")
            default: pair.value
            }
        return value == .null && nulls == .dropped ? nil : ParameterPair(name: pair.name, value: value)
    }
}
