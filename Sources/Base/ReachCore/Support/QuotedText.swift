/// Values of header fields that may have quoted strings (RFC 9110, 5.6.4): one reader and one writer for all fields.
package enum QuotedText {
    /// The parts between marks that are not quoted.
    package static func split(_ text: some StringProtocol, at mark: Unicode.Scalar) -> [Substring] {
        let text = Substring(text)
        var (parts, start, isQuoted, isEscaped) = ([Substring](), text.startIndex, false, false)
        for (index, scalar) in zip(text.unicodeScalars.indices, text.unicodeScalars) {
            if isEscaped {
                isEscaped = false
            } else if isQuoted, scalar == "\\" {
                isEscaped = true
            } else if scalar == "\"" {
                isQuoted.toggle()
            } else if scalar == mark, !isQuoted {
                parts.append(text[start..<index])
                start = text.unicodeScalars.index(after: index)
            }
        }
        return parts + [text[start...]]
    }

    /// The content of the quoted string with which `text` begins; `nil` if it begins with something else. What follows
    /// the string is ignored, and a string that does not end has all the rest.
    package static func content(of text: some StringProtocol) -> String? {
        guard text.unicodeScalars.first == "\"" else { return nil }
        var (content, isEscaped) = ("", false)
        for scalar in text.unicodeScalars.dropFirst() {
            if !isEscaped, scalar == "\"" { break }
            isEscaped = !isEscaped && scalar == "\\"
            if !isEscaped { content.unicodeScalars.append(scalar) }
        }
        return content
    }

    /// `text` as a quoted string.
    package static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }
}
