/// Something whose reachability is watched: the Internet, a host, an address, a prefix, an interface, or a URL's host.
public struct Target: Hashable, Sendable, CustomStringConvertible {
    /// The meaning of a target, from which the lookups in the kernel follow.
    public enum Subject: Hashable, Sendable {
        /// The Internet, represented by distant reference addresses.
        case internet
        /// A host name, which has to be resolved; in ASCII (`xn--` for letters outside it).
        case name(String)
        /// An address, with the interface to reach it by if one is given (`fe80::1%eth0`).
        case address(IPAddress, zone: String?)
        /// A block of addresses, represented by its first host address.
        case prefix(IPPrefix)
        /// An interface of this machine; reachable means that it can carry packets.
        case interface(String)
    }

    /// The target as written.
    public var description: String { parts.value.description }
    /// The meaning of the target.
    public var subject: Subject { parts.value.subject }
    /// What a URL makes programs send to its host; `nil` where that is not known.
    package var flow: PacketFlow? { parts.value.flow }

    /// Shared, since each state, and each change of one, has its target.
    private let parts: Shared<Parts>

    private struct Parts: Hashable, Sendable {
        let description: String
        let subject: Subject
        let flow: PacketFlow?
    }

    /// The longest text of a target in bytes. URLs that people use are shorter.
    package static let longestText = 2048

    /// The Internet.
    public static let internet = Target(description: "internet", subject: .internet)

    /// A host by name or address.
    ///
    /// - Throws: ``TargetError`` when the text is neither.
    public static func host(_ text: String) throws(TargetError) -> Target {
        Target(description: text, subject: try TargetParser.host(text, whole: text))
    }

    /// An address.
    public static func address(_ address: IPAddress) -> Target {
        Target(description: address.description, subject: .address(address, zone: nil))
    }

    /// An interface of this machine, by its name or an alternative name.
    ///
    /// - Throws: ``TargetError`` when no interface can have that name.
    public static func interface(_ name: String) throws(TargetError) -> Target {
        Target(description: "interface:" + name, subject: try TargetParser.interface(name))
    }

    /// Reads a target as written on the command line: `internet`, a host name, an address (with or without a zone, as
    /// in `fe80::1%eth0`), a prefix, `interface:NAME` or a URL.
    ///
    /// - Throws: ``TargetError``, which says what is wrong with the text.
    public init(_ text: String) throws(TargetError) {
        try self.init(text, quotedAs: text)
    }

    /// - Parameter whole: What was written, of which `text` was made; errors quote it.
    package init(_ text: String, quotedAs whole: String) throws(TargetError) {
        let isURL = text.utf8Range(of: "://") != nil
        self.init(
            description: text, subject: try TargetParser.parse(text, quotedAs: whole),
            flow: isURL ? TargetParser.flow(ofURL: text) : nil)
    }

    /// The target whose reachability this one's is: of a URL, its host, and the port, since rules may look at that.
    /// URLs that differ in nothing else are watched as one.
    package var watched: Target {
        guard description.utf8Range(of: "://") != nil else { return self }
        let port = flow.map { ":\($0.port)" } ?? ""
        switch subject {
        // No target of a configuration has such a name.
        case .name(let name): return Target(description: "//" + name + port, subject: subject, flow: flow)
        case .address(let address, let zone):
            let host = "\(address)" + (zone.map { "%" + $0 } ?? "")
            return Target(description: "//[\(host)]" + port, subject: subject, flow: flow)
        case .internet, .prefix, .interface: return self
        }
    }

    private init(description: String, subject: Subject, flow: PacketFlow? = nil) {
        parts = Shared(Parts(description: description, subject: subject, flow: flow))
    }
}

/// What rules look at in a packet besides its addresses (`ip rule add ipproto tcp dport 443 ...`).
package struct PacketFlow: Hashable, Sendable {
    /// By the numbers of IP's protocols.
    package enum Transport: UInt8, Sendable {
        case tcp = 6
        case udp = 17
    }

    package let transport: Transport
    /// The port that is sent to.
    package let port: UInt16

    package static func tcp(_ port: UInt16) -> PacketFlow { PacketFlow(transport: .tcp, port: port) }

    package static func udp(_ port: UInt16) -> PacketFlow { PacketFlow(transport: .udp, port: port) }
}

/// The reason why a text is not a target. Its description is a sentence for people.
public struct TargetError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A sentence that says what is wrong and quotes the text.
    public let description: String

    package init(description: String) { self.description = description }
}

/// The result of resolving a name.
package enum NameAnswer: Hashable, Sendable {
    case addresses([IPAddress])
    /// The name does not exist, or has no address.
    case noAddress
    /// The resolver could not be queried, or could not find out.
    case notAsked
}
