/// Makes text from outside safe for a terminal.
package enum DisplayText {
    /// The text with control characters, and characters that reorder or hide text, shown as `\u{...}`.
    ///
    /// The kernel allows any byte except `/`, `:`, white space and NUL in interface names, so escape sequences that
    /// rewrite a screen, too.
    package static func sanitized(_ text: String) -> String {
        // Printable ASCII, as nearly all text is, is found without a look into Unicode's tables.
        if text.utf8.allSatisfy({ 0x20 <= $0 && $0 < 0x7f }) { return text }
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            if isUnsafe(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
    }

    /// The beginning of a text from outside, safe to print, for an error that quotes it. The limit is in scalars: a
    /// Character has no limit.
    package static func excerpt(_ text: String, upTo limit: Int = 64) -> String {
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: limit, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return sanitized(text) }
        return sanitized(String(scalars[..<end])) + "..."
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }
}
