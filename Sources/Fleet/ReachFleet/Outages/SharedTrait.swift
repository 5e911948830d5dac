package import ReachCore

/// Something that hosts have in common, and whose failure would take all of them away.
package enum SharedTrait: Hashable, Sendable {
    /// A gateway. Home routers all have the same few addresses, so the network that it is behind belongs to it.
    case gateway(IPAddress, behind: IPPrefix?)
    /// The /24 or /56 of the public address.
    case network(IPPrefix)
    case label(String, String)
    /// An autonomous system of the operator's prefix file.
    case system(AutonomousSystem)
    /// The class of the link.
    case linkClass(String)
    /// All hosts, as when the engine's own network fails.
    case fleet

    /// The most specific first: the fewer hosts usually share it, the nearer it is to the cause.
    package var rank: Int {
        switch self {
        case .gateway: 0
        case .network: 1
        case .label: 2
        case .system: 3
        case .linkClass: 4
        case .fleet: 5
        }
    }

    /// A label is the operator's own word for what belongs together.
    var isLabel: Bool {
        if case .label = self { true } else { false }
    }

    /// The name of the trait in `--by`, and its value, for programs.
    package var name: String {
        switch self {
        case .gateway: "gateway"
        case .network: "address"
        case .label(let name, _): name
        case .system: "asn"
        case .linkClass: "class"
        case .fleet: "fleet"
        }
    }

    package var value: String {
        switch self {
        case .gateway(let address, let network): network.map { "\(address) (\($0))" } ?? "\(address)"
        case .network(let prefix): "\(prefix)"
        case .label(_, let value): value
        case .system(let system): "AS\(system.number)"
        case .linkClass(let word): word
        case .fleet: "all"
        }
    }

    /// What follows "hosts" in a sentence, with a space before it.
    package var phrase: String {
        switch self {
        case .gateway(let address, let network):
            " behind gateway \(address)" + (network.map { " (\($0))" } ?? "")
        case .network(let prefix): " behind \(prefix)"
        case .label(let name, let value): " with \(DisplayText.sanitized("\(name)=\(value)"))"
        case .system(let system): " in \(system)"
        case .linkClass(let word): " on \(DisplayText.sanitized(word))"
        case .fleet: ""
        }
    }
}

extension SharedTrait {
    /// The network that a public address is counted with: providers give a customer at least that much of their
    /// addresses.
    package static func network(of address: IPAddress) -> IPPrefix? {
        IPPrefix(address, length: address.family == .ipv4 ? 24 : 56)
    }
}

/// Which traits are compared: all, or those that the operator names.
package struct TraitChoice: Hashable, Sendable {
    private let names: Set<String>?

    /// All traits.
    package static let all = TraitChoice(names: nil)

    private init(names: Set<String>?) { self.names = names }

    /// Reads a list such as `gateway,address,class,asn,site`. Any other word is the name of a label.
    ///
    /// - Returns: `nil` if a name is missing.
    package init?(_ text: String) {
        let parts = text.split(scalar: ",", omittingEmptySubsequences: false).map(String.init)
        guard parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        names = Set(parts)
    }

    func includes(_ trait: SharedTrait) -> Bool { trait.rank == 5 || names?.contains(trait.name) ?? true }
}
