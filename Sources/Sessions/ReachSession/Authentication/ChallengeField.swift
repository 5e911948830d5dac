internal import ReachCore
internal import ReachTransfer

/// A challenge of a `WWW-Authenticate` field: a scheme with its parameters (RFC 9110, 11.6.1).
package struct ChallengeField: Hashable, Sendable {
    /// In lower case.
    package let scheme: String
    /// By names in lower case, without quotes. Of several of one name the first counts.
    package private(set) var parameters: [String: String] = [:]

    /// Reads a field. One field may have several challenges, with commas between them and within them.
    package static func read(_ field: String) -> [ChallengeField] {
        var challenges: [ChallengeField] = []
        for item in items(field) {
            var rest = item[...]
            if let space = item.unicodeScalars.firstIndex(of: " "), !item[..<space].unicodeScalars.contains("=") {
                challenges.append(ChallengeField(scheme: item[..<space].lowercased()))
                rest = item[space...].dropScalars { $0 == " " }
                // Spaces may stand before the "=" of a parameter that continues the challenge before.
                if rest.unicodeScalars.first == "=", challenges.count > 1 {
                    challenges.removeLast()
                    rest = item[...]
                }
            } else if !item.unicodeScalars.contains("=") {
                challenges.append(ChallengeField(scheme: item.lowercased()))
                rest = ""
            }
            guard !challenges.isEmpty else { continue }
            guard let sides = rest.cut(at: "=") else { continue }
            let name = sides.before.filterScalars { $0 != " " }.lowercased()
            let last = challenges.count - 1
            if challenges[last].parameters[name] == nil { challenges[last].parameters[name] = value(sides.after) }
        }
        return challenges
    }

    private init(scheme: String) { self.scheme = scheme }

    /// What is between commas outside quotes, without leading spaces.
    private static func items(_ field: String) -> [Substring] {
        QuotedText.split(field, at: ",").map { $0.dropScalars { $0 == " " } }.filter { !$0.isEmpty }
    }

    private static func value(_ text: Substring) -> String {
        let text = text.dropScalars { $0 == " " }
        return QuotedText.content(of: text) ?? String(text.prefixScalars { $0 != " " })
    }
}

/// The challenge of a response that the session answers: the strongest one that it supports.
package enum ServerChallenge: Hashable, Sendable {
    case basic(realm: String)
    case digest(DigestChallenge)

    /// - Parameter fields: The values of the `WWW-Authenticate` fields.
    /// - Returns: `nil` where no challenge is one to Basic (RFC 7617) or Digest authentication.
    package init?(_ fields: [String]) {
        let challenges = fields.flatMap(ChallengeField.read)
        let digests = challenges.compactMap(DigestChallenge.init)
        if let strongest = digests.max(by: { $0.algorithm.rank < $1.algorithm.rank }) {
            self = .digest(strongest)
        } else if let basic = challenges.first(where: { $0.scheme == "basic" }) {
            // Against the RFC, some servers name no realm.
            self = .basic(realm: basic.parameters["realm"] ?? "")
        } else {
            return nil
        }
    }

    init?(_ head: ResponseHead) {
        self.init(head.fields.filter { $0.name.lowercased() == "www-authenticate" }.map(\.value))
    }

    var realm: String {
        switch self {
        case .basic(let realm): realm
        case .digest(let challenge): challenge.realm
        }
    }

    var isBasic: Bool { if case .basic = self { true } else { false } }

    /// Whether the server accepted the credentials, and wants a new nonce.
    var isStale: Bool { if case .digest(let challenge) = self { challenge.isStale } else { false } }
}
