internal import HTTPTypes
internal import ReachCore

extension WebResponse {
    /// The name under which the server wants its answer stored: from `Content-Disposition` (RFC 6266), else the last
    /// part of the URL's path, else `Unknown`. What NSURLResponse calls `suggestedFilename`.
    ///
    /// It is always the name of a file within a directory: without separators, control characters and leading dots,
    /// and at most 255 bytes long.
    public var suggestedFileName: String {
        let named = head.headerFields[.contentDisposition].flatMap(ContentDisposition.fileName)
        let last = url.path.split(separator: "/").last.map(String.init).flatMap(PercentEncoding.decoded)
        return [named, last].lazy.compactMap { $0.map(Self.safe) }.first { !$0.isEmpty } ?? "Unknown"
    }

    private static func safe(_ name: String) -> String {
        let last = name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? ""
        let scalars = last.unicodeScalars.filter { $0.value >= 0x20 && !(0x7f...0x9f ~= $0.value) }
        var name = Substring(String(String.UnicodeScalarView(scalars))).drop { $0 == "." || $0 == " " }
        while name.utf8.count > 255 { name.removeLast() }
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
        for part in parts(field).dropFirst() {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2 else { continue }
            let (name, value) = (sides[0].trimmed.lowercased(), sides[1].trimmed)
            if found[name] == nil { found[name] = unquoted(value) }
        }
        return found
    }

    /// The parts between semicolons that are not quoted.
    private static func parts(_ field: String) -> [Substring] {
        var (parts, start, isQuoted, isEscaped) = ([Substring](), field.startIndex, false, false)
        for index in field.indices {
            let character = field[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if character == ";", !isQuoted {
                parts.append(field[start..<index])
                start = field.index(after: index)
            }
        }
        return parts + [field[start...]]
    }

    private static func unquoted(_ value: Substring) -> String {
        guard value.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") else { return String(value) }
        var (text, isEscaped) = ("", false)
        for character in value.dropFirst().dropLast() {
            if character == "\\", !isEscaped {
                isEscaped = true
            } else {
                text.append(character)
                isEscaped = false
            }
        }
        return text
    }

    /// The text of an extended value (RFC 8187) in UTF-8, the only encoding that senders may use.
    private static func extended(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
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
