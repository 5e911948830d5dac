package import ReachCore

/// A host's addresses, as they are to be asked for.
package struct NameQuestion: Hashable, Sendable {
    /// In ASCII form. A dot at the end says that the name is whole: no search list is applied to it.
    package var host: String
    /// `nil` for both.
    package var family: IPAddress.Family?
    /// The interface by which the question goes out, unless the name server is on this machine; `nil` leaves it to routing.
    package var interface: InterfaceBinding?

    package init(_ host: String, family: IPAddress.Family? = nil, interface: InterfaceBinding? = nil) {
        self.host = host
        self.family = family
        self.interface = interface
    }

    /// In the order in which they are asked for.
    var families: [IPAddress.Family] { family.map { [$0] } ?? [.ipv6, .ipv4] }
}

/// Why a name has no address for us, sorted by what the caller does.
package enum NameFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name exists nowhere, or has no address of the families asked for: it will not help to ask again soon.
    case notFound(String)
    /// No name server answered in time.
    case silent(String)
    /// Name servers answered that they cannot answer (RFC 1035 section 4.1.1), or with nonsense.
    case serverFailure(String)
    /// The question could not be sent from here: `errno`.
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
