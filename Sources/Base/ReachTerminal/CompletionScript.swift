internal import Glibc
internal import ReachCore

/// Keeps the values that a shell completes from being run by it.
///
/// Others choose these values: whoever may make a link names it, and the socket and the history may be another user's.
/// A link named `$(touch${IFS}Z)` must run nothing when root presses TAB, nor when root then presses Enter.
package enum CompletionScript {
    /// Those of the values that no shell expands, in the form that the asking one wants. The others are not offered:
    /// not every shell quotes what it inserts.
    ///
    /// - Parameters:
    ///   - typed: What the user has typed of the value. It may be a pattern, with `*`.
    ///   - shell: The asking shell, as the scripts name it.
    package static func offered(
        _ values: [String], after typed: String = "", shell: String? = askingShell
    ) -> [String] {
        let isPattern = typed.unicodeScalars.allSatisfy { $0 == "*" || isPlain($0) }
        let plain = values.filter { value in
            let rest = (isPattern ? value.after(typed) : nil) ?? value[...]
            return !value.isEmpty && !value.hasUTF8Prefix("-") && rest.unicodeScalars.allSatisfy(isPlain)
        }
        // A colon begins a description there.
        return shell == "zsh"
            ? plain.map { $0.split(scalar: ":", omittingEmptySubsequences: false).joined(separator: "\\:") } : plain
    }

    package static var askingShell: String? { getenv("SAP_SHELL").map { String(cString: $0) } }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isLetter || scalar.isDigit || " ._:/@%+=,-".unicodeScalars.contains(scalar) { return true }
        guard !scalar.isASCII else { return false }
        return scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    }

    /// A generated script, in which bash takes values as they are: `compgen -W` expands them as a command line.
    package static func withoutExpansion(_ script: String) -> String {
        guard let name = script.after("#!/bin/bash\n\n__")?.cut(at: "(")?.before.before("_cursor_index_in_current_word")
        else { return script }
        let parts = pieces(of: script, between: "__\(name)_add_completions -W \"$(__\(name)_custom_complete ")
        let safe = parts.joined(separator: "__\(name)_add_values \"$(__\(name)_custom_complete ")
        return pieces(of: safe, between: "\n__\(name)_custom_complete() {").joined(
            separator: "\n" + addValues(name) + "\n__\(name)_custom_complete() {")
    }

    private static func addValues(_ name: Substring) -> String {
        """
        # "compgen -W" would expand the values, which others may have chosen.
        __\(name)_add_values() {
            local value
            while IFS='' read -r value; do
                if [[ -n "${value}" && "${value}" = "${cur}"* ]]; then
                    [[ "${value}" = *[^[:alnum:]._:/@%+=,-]* ]] && printf -v value %q "${value}"
                    COMPREPLY+=("${value}")
                fi
            done <<<"${1}"
        }

        """
    }

    private static func pieces(of text: String, between mark: String) -> [Substring] {
        var (pieces, rest) = ([Substring](), text[...])
        while let range = rest.utf8Range(of: mark) {
            pieces.append(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
        }
        return pieces + [rest]
    }
}
