/// What the network must be like: all terms hold for one path.
///
/// The one language for `wait --until`, `run --when`, `queue add --when`, sessions and rows of the queue's file;
/// reach(1) documents it.
package struct NetworkCondition: Hashable, Sendable {
    /// The class of what carries the path, below tunnels too.
    package var linkClass: LinkClass?
    /// Classes that must not carry it.
    package var excludedClasses: Set<LinkClass> = []
    package var isUnmetered = false
    /// Probes have proved the Internet behind it (connectivity `full`).
    package var isValidated = false
    /// The target, or a request's own host, is reachable; the path is then the one to it.
    package var isTargetReachable = false
    /// The target is known not to be reachable. Goes with no other term.
    package var isTargetUnreachable = false
    package var interface: String?
    /// The network behind the path: a configured name, or a private identifier.
    package var network: String?
    /// Networks that must not be behind it. A network that is not known is none of them.
    package var excludedNetworks: Set<String> = []
    package var family: IPAddress.Family?
    /// What is said of the line. A line that is not measured is none of it.
    package var quality: LineQuality.Word?
    /// A text that this version cannot read, of a file that a newer one wrote. No path satisfies it.
    package private(set) var unreadable: String?

    package init() {}

    /// Stands for a condition that was stored and cannot be read: what waits for it goes on waiting.
    package init(unreadable text: String) { unreadable = text }

    /// Any path.
    package static let any = NetworkCondition()

    package static let reachable: NetworkCondition = {
        var condition = NetworkCondition()
        condition.isTargetReachable = true
        return condition
    }()
}

/// What a condition looks at in a path.
package protocol ConditionedPath {
    var interface: String { get }
    var traits: PathTraits { get }
    /// Probes have proved the Internet behind it.
    var isValidated: Bool { get }
    /// What is said of its line; `nil` where it is not measured.
    var quality: LineQuality.Word? { get }
    /// The families in which the path works.
    var families: Set<IPAddress.Family> { get }
}

extension PathTraits {
    /// Whether a name means the link of this interface.
    package func isNamed(_ name: String, of interface: String?) -> Bool {
        name == interface || alternativeNames.contains(name)
    }

    /// Whether a class carries it: its own, or the one below a tunnel.
    package func isCarried(by wanted: LinkClass) -> Bool {
        (linkClass ?? .other) == wanted || carrierClass == wanted
    }
}

extension NetworkCondition {
    /// What keeps a path from satisfying a condition.
    package struct Unmet: OptionSet, Hashable, Sendable {
        package let rawValue: UInt16

        package init(rawValue: UInt16) { self.rawValue = rawValue }

        /// There is no path at all.
        package static let path = Unmet(rawValue: 1 << 0)
        /// The path is of another class, or by another interface.
        package static let linkClass = Unmet(rawValue: 1 << 1)
        package static let metered = Unmet(rawValue: 1 << 2)
        package static let validated = Unmet(rawValue: 1 << 3)
        package static let family = Unmet(rawValue: 1 << 4)
        /// The path leads to another network.
        package static let network = Unmet(rawValue: 1 << 6)
        /// The target is not reachable.
        package static let target = Unmet(rawValue: 1 << 5)
        /// No one knows what the condition asks for.
        package static let unreadable = Unmet(rawValue: 1 << 7)
        /// The line is not as it is asked for, or not measured.
        package static let quality = Unmet(rawValue: 1 << 8)
    }

    /// Empty where the path satisfies every term.
    package func unmet(on path: some ConditionedPath) -> Unmet {
        if unreadable != nil { return .unreadable }
        var unmet: Unmet = []
        if let linkClass, !path.traits.isCarried(by: linkClass) { unmet.insert(.linkClass) }
        if excludedClasses.contains(where: path.traits.isCarried) { unmet.insert(.linkClass) }
        if let interface, !path.traits.isNamed(interface, of: path.interface) { unmet.insert(.linkClass) }
        if let network, network != path.traits.network { unmet.insert(.network) }
        if let behind = path.traits.network, excludedNetworks.contains(behind) { unmet.insert(.network) }
        if isUnmetered, path.traits.isMetered || path.traits.mayBeMetered { unmet.insert(.metered) }
        if isValidated, !path.isValidated { unmet.insert(.validated) }
        if let family, !path.families.contains(family) { unmet.insert(.family) }
        if path.families.isEmpty { unmet.insert(.family) }
        if let quality, quality != path.quality { unmet.insert(.quality) }
        return unmet
    }

    /// Whether it depends on what a configuration says of links and networks.
    package var dependsOnConfiguration: Bool {
        isUnmetered || linkClass != nil || !excludedClasses.isEmpty || namesNetworks
    }

    /// Whether it depends on the network behind a path.
    package var namesNetworks: Bool { network != nil || !excludedNetworks.isEmpty }

    /// The first network that it names and that the configuration does not; `nil` if there is none. An identifier of a
    /// network without a name is known.
    package func unknownNetwork(among names: [String]) -> String? {
        let asked = [network].compactMap { $0 } + excludedNetworks.sorted()
        return asked.first { !names.contains($0) && !NetworkRule.isIdentifier($0) }
    }

    /// The problem with a condition that names an unknown network, for people; `nil` if there is none.
    package func networkProblem(among names: [String]) -> String? {
        guard let unknown = unknownNetwork(among: names) else { return nil }
        let hint: String
        if let meant = NearestWord.find(unknown, among: names) {
            hint = "; did you mean '\(meant)'?"
        } else if names.isEmpty {
            hint = ": the daemon's configuration names no network"
        } else {
            hint = "; there are \(names.joined(separator: ", "))"
        }
        return "no [[network]] is named '\(unknown)'\(hint)"
    }

    /// What is unmet where there is no path.
    package var unmetWithoutPath: Unmet {
        unreadable != nil ? .unreadable : isTargetReachable ? .target : .path
    }

    /// Whether a link that cannot send at the moment, with these traits, would satisfy it if it could.
    func wouldAllow(_ traits: PathTraits, of interface: String) -> Bool {
        unmet(on: CandidateLink(interface: interface, traits: traits)).isDisjoint(with: [.linkClass, .metered])
    }
}

private struct CandidateLink: ConditionedPath {
    let interface: String
    let traits: PathTraits
    var isValidated: Bool { false }
    var quality: LineQuality.Word? { nil }
    var families: Set<IPAddress.Family> { [] }
}
