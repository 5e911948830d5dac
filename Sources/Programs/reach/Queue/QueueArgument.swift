internal import ArgumentParser
internal import ReachControl
internal import ReachCore

/// Values on the command line of `reach queue add`, with a sentence for each that is wrong.
enum QueueArgument {
    /// A header, or with `@` those in a file, one on each line; `@-` is standard input. Other users see the command
    /// line, but not the file.
    static func headers(_ text: String) throws(CommandError) -> [HeaderField] {
        var lines = [text]
        if text.hasUTF8Prefix("@") {
            let content = String(decoding: try QueueBodyFile(String(text.dropFirst())).read(), as: UTF8.self)
            lines = content.textLines.filter { !$0.isEmpty }.map(String.init)
        }
        var fields: [HeaderField] = []
        for line in lines {
            do { fields.append(try header(line)) } catch { throw CommandError(status: .usage, message: "\(error)") }
        }
        return fields
    }

    static func header(_ text: String) throws -> HeaderField {
        guard let colon = text.unicodeScalars.firstIndex(of: ":"), colon != text.startIndex else {
            throw ValidationError("'\(DisplayText.sanitized(text))' is not of the form 'Name: value'")
        }
        guard ByteText.isText(text) else {
            throw ValidationError("'\(DisplayText.sanitized(ByteText.shown(text)))' is not UTF-8")
        }
        let value = text[text.unicodeScalars.index(after: colon)...].dropScalars { $0 == " " || $0 == "\t" }
        let name = String(text[..<colon])
        if let fault = RequestFieldFault(name, String(value)) { throw ValidationError(fault.description) }
        return HeaderField(name, String(value))
    }

    static func statuses(_ text: String) throws -> ClosedRange<Int> {
        let parts = text.split(scalar: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard let first = parts.first ?? nil, let last = parts.last ?? nil, parts.count <= 2, 100...599 ~= first,
            100...599 ~= last, first <= last
        else { throw ValidationError("'\(DisplayText.sanitized(text))' is no status, nor two such as 200-299") }
        return first...last
    }

    /// A URL that ends with a slash is a directory for the file, as curl has it.
    static func url(_ url: String, uploading file: String?) -> String {
        guard let file, file != "-", url.hasUTF8Suffix("/") else { return url }
        let name = file.split(scalar: "/").last ?? ""
        return url
            + ByteText.bytes(of: name).map { byte in
                if URLCharacters.isUnreserved(byte) { return String(decoding: [byte], as: UTF8.self) }
                return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }.joined()
    }
}
