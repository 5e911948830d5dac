internal import ReachTransfer

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
