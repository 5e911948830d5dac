/// What is asked about: the Internet, a host, an address, a prefix, an interface, or the host of a URL.
public struct Target: Hashable, Sendable, CustomStringConvertible {
    /// What the kernel is asked about in the end.
    public enum Subject: Hashable, Sendable {
        /// The Internet: addresses far away that stand for it.
        case internet
        /// A host by its name, to be resolved.
        case name(String)
        /// An address, with the interface it is meant on where it needs one (`fe80::1%eth0`).
        case address(IPAddress, zone: String?)
        /// A block of addresses, for which its first host address stands.
        case prefix(IPPrefix)
        /// An interface of this machine: can it carry packets now?
        case interface(String)
    }

    /// What was asked, as it was written.
    public let description: String
    /// What that means.
    public let subject: Subject

    /// The Internet.
    public static let internet = Target(description: "internet", subject: .internet)

    /// A host by name or address.
    ///
    /// - Throws: ``TargetError`` when it is neither.
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

    /// Reads a target as the command line takes it: `internet`, a host name, an address (`fe80::1%eth0` too), a
    /// prefix, `interface:NAME` or a URL.
    ///
    /// - Throws: ``TargetError``, which says what is wrong with it.
    public init(_ text: String) throws(TargetError) {
        self.init(description: text, subject: try TargetParser.parse(text))
    }

    private init(description: String, subject: Subject) {
        self.description = description
        self.subject = subject
    }
}

/// Why a text is no target. Its description is a sentence for people.
public struct TargetError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, naming the text at fault.
    public let description: String

    package init(description: String) { self.description = description }
}

/// What became of a name that the resolver was asked for.
package enum NameAnswer: Hashable, Sendable {
    case addresses([IPAddress])
    /// The name exists nowhere, or has no address.
    case noAddress
    /// The resolver could not be asked, or could not find out.
    case notAsked
}
