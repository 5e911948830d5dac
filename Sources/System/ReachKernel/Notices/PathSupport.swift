internal import ReachCore

/// What paths rest on, as an evaluation found it.
struct PathSupport: Equatable {
    /// The links by which the paths leave.
    var links: Set<InterfaceIndex> = []
    /// The links by which packets could leave, of which the network's snapshot tells. No path rests on them.
    var connected: Set<InterfaceIndex> = []
    /// The addresses from which packets are sent. With an address, the kernel removes the routes that prefer it as
    /// source.
    var sources: Set<IPAddress> = []
    /// Whether someone looks up routes, which any change may touch.
    var hasRouteWatches = false

    mutating func add(_ path: NetworkPath) {
        if let link = path.interfaceIndex { links.insert(link) }
        if let source = path.source { sources.insert(source) }
    }
}

/// The links on which paths rest, and all below them, each found when they are first asked for.
struct SupportingLinks {
    /// `nil` if every link counts: for a target that is not reachable, any link may be the root cause, or the way back.
    let support: PathSupport?
    /// The links of the paths; the inner `nil` if the links below are not to be known, the outer one until they are
    /// found.
    private var ofPaths: Set<InterfaceIndex>??
    /// The same, with those by which packets could leave.
    private var found: Set<InterfaceIndex>??

    /// Returns links with all below them; `nil` if these cannot be known.
    typealias Carriers = (Set<InterfaceIndex>) -> Set<InterfaceIndex>?

    init(_ support: PathSupport? = nil) { self.support = support }

    /// The links of paths, and of the network's snapshot; `nil` if every link counts.
    mutating func all(_ carriers: Carriers) -> Set<InterfaceIndex>? {
        if let found { return found }
        let new = support.flatMap { carriers($0.links.union($0.connected)) }
        found = .some(new)
        return new
    }

    /// Whether a path, or a route that someone watches, may rest on what a notice is about. To wait for other changes
    /// costs time of the processor, since the kernel spins on its lock while thousands of links make a removal long.
    mutating func mayBeTouched(
        by notice: Notice, _ effect: NetworkTable.Effect, _ carriers: Carriers
    ) -> Bool {
        guard let interface = effect.interface, let support, !support.hasRouteWatches else { return true }
        // A port that joins a link of a path is below it from now on.
        if case .link(let link) = notice, let controller = link.controller, ofPaths??.contains(controller) == true,
            ofPaths??.contains(interface) == false
        {
            ofPaths = nil
        }
        if ofPaths == nil { ofPaths = .some(carriers(support.links)) }
        guard let links = ofPaths ?? nil else { return true }
        if case .addressRemoved(let address) = notice, support.sources.contains(address.address) { return true }
        return links.contains(interface)
    }
}
