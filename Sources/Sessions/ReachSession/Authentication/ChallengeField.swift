/// A challenge of a `WWW-Authenticate` field: a scheme with its parameters (RFC 9110, 11.6.1).
package struct ChallengeField: Hashable, Sendable {
    /// In lower case.
    package let scheme: String
    /// By names in lower case, without quotes. Of several of one name the first counts.
    package private(set) var parameters: [String: String] = [:]

    /// Reads a field. One field may have several challenges, with commas between them and within them.
    package static func read(_ field: String) -> [ChallengeField] {
        var challenges: [ChallengeField] = []
        for item in split(field) {
            var rest = item[...]
            if let space = item.firstIndex(of: " "), !item[..<space].contains("=") {
                challenges.append(ChallengeField(scheme: item[..<space].lowercased()))
                rest = item[item.index(after: space)...].drop { $0 == " " }
                // Spaces may stand before the "=" of a parameter that continues the challenge before.
                if rest.first == "=", challenges.count > 1 {
                    challenges.removeLast()
                    rest = item[...]
                }
            } else if !item.contains("=") {
                challenges.append(ChallengeField(scheme: item.lowercased()))
                rest = ""
            }
            guard !challenges.isEmpty else { continue }
            let sides = rest.split(separator: "=", maxSplits: 1)
            guard sides.count == 2 else { continue }
            let name = sides[0].filter { $0 != " " }.lowercased()
            let last = challenges.count - 1
            if challenges[last].parameters[name] == nil { challenges[last].parameters[name] = unquoted(sides[1]) }
        }
        return challenges
    }

    private init(scheme: String) { self.scheme = scheme }

    /// Splits at commas outside quotes, and removes the leading spaces of each item.
    private static func split(_ field: String) -> [String] {
        var items: [String] = [""]
        var (isQuoted, isEscaped) = (false, false)
        for character in field {
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && character == "\\" && !isEscaped
            if character == ",", !isQuoted { items.append("") } else { items[items.count - 1].append(character) }
        }
        return items.map { String($0.drop { $0 == " " }) }.filter { !$0.isEmpty }
    }

    private static func unquoted(_ text: Substring) -> String {
        let text = text.drop { $0 == " " }
        guard text.first == "\"" else { return String(text.prefix { $0 != " " }) }
        var (value, isEscaped) = ("", false)
        for character in text.dropFirst() {
            if isEscaped {
                value.append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                break
            } else {
                value.append(character)
            }
        }
        return value
    }
}
