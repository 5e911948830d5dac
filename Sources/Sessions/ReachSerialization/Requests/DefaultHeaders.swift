internal import Glibc
public import HTTPTypes
internal import ReachCore

/// The headers of every request that does not set its own, as AFHTTPRequestSerializer builds them.
public enum DefaultHeaders {
    /// `Accept-Language`, if the environment asks for a language, and `User-Agent` with this machine's system.
    public static func headers(program: String, version: String, environment: [String: String]) -> HTTPFields {
        var headers = HTTPFields()
        if let languages = acceptLanguage(environment: environment) { headers[.acceptLanguage] = languages }
        headers[.userAgent] = userAgent(program: program, version: version, system: systemName)
        return headers
    }

    /// The user agent `program/version (system)`, such as `reach/1.0 (Linux 6.1.0-18-amd64; x86_64)`.
    ///
    /// Bytes outside ASCII are percent-encoded, so that no name is empty. AFNetworking transliterates them to Latin
    /// letters, which requires Unicode's tables: `DefaultHeaders.transliterated(_:)` of ReachSessionFoundation does so.
    public static func userAgent(program: String, version: String, system: String) -> String {
        let comment = String.UnicodeScalarView(system.unicodeScalars.filter { 0x20...0x7e ~= $0.value })
        return "\(escaped(program))/\(escaped(version)) (\(String(comment)))"
    }

    private static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if 0x20...0x7e ~= byte { bytes.append(byte) } else { URLCharacters.appendEscape(of: byte, to: &bytes) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The languages that the environment asks for, the preferred one first: `de-AT;q=1, en;q=0.9`.
    ///
    /// Each weight is a tenth below the previous one; as in AFNetworking the last one is 0.5. The environment is read
    /// as gettext reads it: LANGUAGE, a list, applies only if LC_ALL, LC_MESSAGES or LANG, the first that is set, names
    /// a language, and precedes it.
    ///
    /// - Returns: `nil` if only "C" or "POSIX" is asked for: then any language will do.
    public static func acceptLanguage(environment: [String: String]) -> String? {
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        guard let locale = variable("LC_ALL") ?? variable("LC_MESSAGES") ?? variable("LANG"),
            let localeTag = languageTag(locale[...])
        else { return nil }
        let preferred = variable("LANGUAGE")?.split(scalar: ":").compactMap(languageTag) ?? []
        var tags: [String] = []
        for tag in preferred + [localeTag] where !tags.contains(tag) && tags.count < 6 { tags.append(tag) }
        let weights = ["1", "0.9", "0.8", "0.7", "0.6", "0.5"]
        return zip(tags, weights).map { "\($0);q=\($1)" }.joined(separator: ", ")
    }

    /// The language tag (RFC 5646) of a locale's name: `de-AT` for `de_AT.UTF-8@euro`.
    private static func languageTag(_ locale: Substring) -> String? {
        let name = locale.prefixScalars { $0 != "." && $0 != "@" }
        guard name != "C", name != "POSIX", !name.isEmpty else { return nil }
        let tag = name.split(scalar: "_", omittingEmptySubsequences: false).joined(separator: "-")
        let isPlain = tag.unicodeScalars.allSatisfy { $0.isLetter || $0.isDigit || $0 == "-" }
        return isPlain && tag.unicodeScalars.first?.isLetter == true ? tag : nil
    }
}

extension DefaultHeaders {
    /// The machine's system for the user agent: `Linux 6.1.0-18-amd64; x86_64`.
    public static var systemName: String {
        var name = utsname()
        guard uname(&name) == 0 else { return "Linux" }
        return "\(text(name.sysname)) \(text(name.release)); \(text(name.machine))"
    }

    /// The text in a C array, which Swift imports as a tuple.
    private static func text<Field>(_ field: Field) -> String {
        withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

extension HTTPFields {
    /// Sets Basic authorisation (RFC 7617). The encoding does not protect the password: use it over https.
    ///
    /// - Parameter user: The user's name. It must not contain a colon, which ends the name.
    /// - Returns: `false`, without setting anything, if the name contains a colon.
    @discardableResult
    public mutating func setBasicAuthorization(user: String, password: String) -> Bool {
        guard !user.utf8.contains(UInt8(ascii: ":")) else { return false }
        self[.authorization] = "Basic " + Base64.encode(Array("\(user):\(password)".utf8))
        return true
    }

    /// Removes any authorisation.
    public mutating func clearAuthorization() { self[.authorization] = nil }
}
