internal import HTTPTypes
internal import ReachCore

extension WebResponse {
    /// The name under which the server wants its answer stored: from `Content-Disposition` (RFC 6266), else the last
    /// part of the URL's path, else `Unknown`. What NSURLResponse calls `suggestedFilename`.
    ///
    /// It is always the name of a file within a directory: without separators, control characters, marks of
    /// direction and leading dots, and at most 255 bytes long.
    public var suggestedFileName: String {
        let named = head.headerFields[.contentDisposition].flatMap(ContentDisposition.fileName)
        let last = url.path.split(scalar: "/").last.map(String.init).flatMap(PercentEncoding.decoded)
        return [named, last].lazy.compactMap { $0.map(Self.safe) }.first { !$0.isEmpty } ?? "Unknown"
    }

    /// Controls, and the marks that turn the direction of a text: "photo", a mark and "gpj.exe" look like a picture.
    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control || scalar.properties.isBidiControl
    }

    private static func safe(_ name: String) -> String {
        let last = name.splitScalars { $0 == "/" || $0 == "\\" }.last ?? ""
        var name = last.filterScalars { !isUnsafe($0) }.dropScalars { $0 == "." || $0 == " " }
        while name.utf8.count > 255 { name.unicodeScalars.removeLast() }
        return String(name)
    }
}

/// The parameters of `Content-Disposition` that name a file.
enum ContentDisposition {
    /// - Returns: The value of `filename*`, else that of `filename`.
    static func fileName(_ field: String) -> String? {
        let parameters = parameters(field)
        return parameters["filename*"].flatMap(extended) ?? parameters["filename"]
    }

    /// Names in lower case, values without quotes.
    private static func parameters(_ field: String) -> [String: String] {
        var found: [String: String] = [:]
        for part in QuotedText.split(field, at: ";").dropFirst() {
            guard let sides = part.cut(at: "=") else { continue }
            let (name, value) = (sides.before.trimmed.lowercased(), sides.after.trimmed)
            if found[name] == nil { found[name] = QuotedText.content(of: value) ?? String(value) }
        }
        return found
    }

    /// The text of an extended value (RFC 8187) in UTF-8, the only encoding that senders may use.
    private static func extended(_ value: String) -> String? {
        let parts = value.split(scalar: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        return PercentEncoding.decoded(String(parts[2]))
    }
}

enum PercentEncoding {
    /// - Returns: `nil` for an incomplete escape, and for what is not UTF-8.
    static func decoded(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            // The initialiser would take a sign.
            guard rest.count >= 2, rest.first != UInt8(ascii: "+"), rest.first != UInt8(ascii: "-"),
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
