internal import ReachCore

/// What a network announces about a portal (RFC 8910), checked: any host on the link may announce anything.
package enum PortalURI: Hashable, Sendable {
    /// The portal has an API at this address.
    case api(ConnectivityEndpoint)
    /// The network says that it has no portal (RFC 8910 2).
    case unrestricted
    /// The URI cannot be used.
    case refused(PortalTrouble)

    package init(_ text: String) {
        guard text != "urn:ietf:params:capport:unrestricted" else {
            self = .unrestricted
            return
        }
        guard let endpoint = ConnectivityEndpoint(text) else {
            self = .refused(.badURI)
            return
        }
        // RFC 8908 4.1: whoever can announce a URI could answer for it without TLS.
        self = endpoint.isSecure ? .api(endpoint) : .refused(.notSecure)
    }
}

/// Why nothing is known from a portal's API.
package enum PortalTrouble: String, Error, Hashable, Sendable, CaseIterable {
    /// The announced URI is no valid URL of https.
    case badURI = "bad-uri"
    /// The announced URI is one of http.
    case notSecure = "not-secure"
    /// No complete answer came.
    case noAnswer = "no-answer"
    /// The server has no valid certificate for the host of the URI.
    case certificate
    /// The answer is not that of an API (RFC 8908 5).
    case wrongAnswer = "wrong-answer"

    /// A sentence for people.
    var sentence: String {
        switch self {
        case .badURI: "The network announces an API of a portal, but not by a valid URL, so it is not asked."
        case .notSecure: "The network announces an API of a portal by http, which proves nothing, so it is not asked."
        case .noAnswer: "The API of the network's portal does not answer."
        case .certificate:
            "What answers for the API of the network's portal has no valid certificate, so it is not believed."
        case .wrongAnswer: "The API of the network's portal gives an answer that is not one of RFC 8908."
        }
    }
}
