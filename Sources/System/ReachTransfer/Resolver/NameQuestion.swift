package import ReachCore

/// A question for the addresses of a host.
package struct NameQuestion: Hashable, Sendable {
    /// In ASCII form. A dot at the end makes the name absolute: no search list applies to it.
    package var host: String
    /// `nil` for both.
    package var family: IPAddress.Family?
    /// The interface to send queries over, unless the name server is on this machine; `nil` leaves it to routing.
    package var interface: InterfaceBinding?
    /// The user whose request it is for; `nil` for this program's own.
    package var owner: UInt32?

    package init(
        _ host: String, family: IPAddress.Family? = nil, interface: InterfaceBinding? = nil, owner: UInt32? = nil
    ) {
        self.host = host
        self.family = family
        self.interface = interface
        self.owner = owner
    }

    /// In the order in which they are queried.
    var families: [IPAddress.Family] { family.map { [$0] } ?? [.ipv6, .ipv4] }
}

/// Why a name could not be resolved, sorted by what the caller does.
package enum NameFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name does not exist, or has no address of the families asked for: an early retry does not help.
    case notFound(String)
    /// No name server answered in time.
    case silent(String)
    /// Name servers answered with a failure (RFC 1035 section 4.1.1), or with an invalid message.
    case serverFailure(String)
    /// The query could not be sent from this machine: `errno`.
    case notAsked(String, systemError: Int32)

    package var description: String {
        switch self {
        case .notFound(let text), .silent(let text), .serverFailure(let text), .notAsked(let text, _): text
        }
    }
}

extension TransferFailure {
    init(_ failure: NameFailure) {
        switch failure {
        case .notFound(let text): self.init(.nameNotFound, text, curlCode: 6)
        case .silent(let text): self.init(.nameServerSilent, text, curlCode: 28)
        case .serverFailure(let text): self.init(.nameServerFailure, text, curlCode: 6)
        case .notAsked(let text, let number):
            self.init(Self.socketReason(number) ?? .nameServerFailure, text, curlCode: 6, systemError: number)
        }
    }
}
