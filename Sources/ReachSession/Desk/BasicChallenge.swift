internal import ReachTransfer

/// A server's challenge to Basic authorisation (RFC 7617), possibly one of several challenges in the response.
package struct BasicChallenge: Equatable {
    /// The protection space; empty where the server names none, against the RFC.
    package let realm: String

    /// Finds the challenge in a response.
    ///
    /// - Returns: `nil` where no field asks for Basic authorisation.
    init?(_ head: ResponseHead) {
        let fields = head.fields.filter { $0.name.lowercased() == "www-authenticate" }
        guard let realm = fields.lazy.compactMap({ Self.realm(in: $0.value) }).first else { return nil }
        self.realm = realm
    }

    /// Finds the challenge in the value of one `WWW-Authenticate` field.
    ///
    /// - Returns: `nil` where the value does not ask for Basic authorisation.
    package init?(_ field: String) {
        guard let realm = Self.realm(in: field) else { return nil }
        self.realm = realm
    }

    /// The realm of the Basic challenge in a field. One field may hold several challenges, with commas between them and
    /// within them (RFC 9110, 11.6.1).
    private static func realm(in field: String) -> String? {
        var scheme = ""
        var isBasic = false
        for item in split(field) {
            var rest = item[...]
            if let space = item.firstIndex(of: " "), !item[..<space].contains("=") {
                scheme = item[..<space].lowercased()
                rest = item[item.index(after: space)...].drop { $0 == " " }
            } else if !item.contains("=") {
                scheme = item.lowercased()
                rest = ""
            }
            guard scheme == "basic" else { continue }
            isBasic = true
            let sides = rest.split(separator: "=", maxSplits: 1)
            if sides.count == 2, sides[0].filter({ $0 != " " }).lowercased() == "realm" { return unquoted(sides[1]) }
        }
        return isBasic ? "" : nil
    }

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
        guard text.first == "\"" else { return String(text) }
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
