internal import ReachCore
internal import ReachLoop

/// Watches the neighbours on which paths depend: the kernel reports their changes, those that failed are asked again
/// for those who wait for a path, and when one should have answered, ``onCheck`` is called. Confined to the loop.
final class NeighbourWatch {
    /// The neighbours on which the paths depended at the last evaluation, and those of targets watched since.
    var current = PathNeighbours()
    /// Called when a neighbour should have answered.
    var onCheck: () -> Void = {}
    private let loop: EventLoop
    /// The gateways of the default routes: who they are identifies the network, of which checks prove something.
    private var gateways: Set<Neighbour.Key> = []
    /// The numbers of those who wait for a path.
    private var askers: Set<UInt64> = []
    private let inquiry: NeighbourInquiry
    private lazy var timer = DeadlineTimer(on: loop) { [unowned self] in
        deadline = nil
        onCheck()
    }
    private var deadline: BootTime?

    init(on loop: EventLoop) {
        self.loop = loop
        inquiry = NeighbourInquiry(on: loop)
    }

    // MARK: - The kernel's reports

    func track(through observer: KernelObserver?) { observer?.trackNeighbours(current.all.union(gateways)) }

    /// Takes the gateways of all default routes, as far as they have an entry. The evaluated paths have only the
    /// gateways of routes that the kernel prefers.
    ///
    /// - Returns: Whether they differ from those before.
    func setGateways(of routes: [DefaultRoute]) -> Bool {
        let keys = Set(
            routes.compactMap { route in
                route.neighbour == nil
                    ? nil : route.gateway.map { Neighbour.Key(interface: route.key.interface, address: $0) }
            })
        defer { gateways = keys }
        return keys != gateways
    }

    // MARK: - Checks

    /// Makes this the time of the next check; `nil` for none.
    func check(at time: BootTime?) {
        deadline = time
        timer.set(to: time)
    }

    /// Has the next check at this time, or earlier if there is to be one.
    func check(atLatest time: BootTime) { check(at: deadline.map { min($0, time) } ?? time) }

    // MARK: - Questions

    func addAsker(_ id: UInt64) { askers.insert(id) }

    /// - Returns: Whether it was there.
    func removeAsker(_ id: UInt64) -> Bool { askers.remove(id) != nil }

    /// When routers were asked beside which another one had failed.
    private var suspects: [Neighbour.Key: BootTime] = [:]

    /// No router is asked more often beside one that failed.
    private static let suspicionInterval = Duration.seconds(30)

    /// Asks the routers of which the kernel has heard nothing recently, on links on which another router has failed:
    /// that of the other family may be the same device. The kernel would not notice while nothing is sent by it.
    private func askBesideFailed(in view: KernelView?) {
        guard !askers.isEmpty, let table = view?.table else { return }
        let failed = Set(current.routers.filter { table.neighbours[$0] == .failed }.map(\.interface))
        suspects = suspects.filter { failed.contains($0.key.interface) }
        guard !failed.isEmpty else { return }
        let now = SystemClock.boot
        for key in current.routers where failed.contains(key.interface) && Self.isUnheard(table.neighbours[key]) {
            guard let link = table.links[key.interface], link.isUsable,
                suspects[key].map({ now >= $0 + Self.suspicionInterval }) ?? true
            else { continue }
            suspects[key] = now
            NeighbourInquiry.ask(key, by: link.name)
        }
    }

    /// Whether the kernel has heard nothing of a neighbour recently, and is not asking it now.
    private static func isUnheard(_ state: NeighbourState?) -> Bool {
        guard let state else { return true }
        return state == .stale || state == NeighbourState.none
    }

    /// Has those asked that failed, if somebody waits.
    func ask(in view: KernelView?) {
        askBesideFailed(in: view)
        let isWanted = !askers.isEmpty
        guard isWanted || !inquiry.isIdle else { return }
        var failed: [Neighbour.Key: String] = [:]
        if let table = view?.table {
            for key in current.all where table.neighbours[key] == .failed {
                guard let link = table.links[key.interface], link.isUsable else { continue }
                failed[key] = link.name
            }
        }
        inquiry.update(failed, routers: current.routers, isWanted: isWanted)
    }
}

/// The neighbours on which paths depend.
struct PathNeighbours {
    private(set) var all: Set<Neighbour.Key> = []
    /// Those of them that pass packets on.
    private(set) var routers: Set<Neighbour.Key> = []

    init() {}

    /// The neighbours of the paths that were found.
    init(_ finder: PathFinder) { (all, routers) = (finder.neighbours, finder.routers) }

    mutating func add(_ finder: PathFinder) {
        all.formUnion(finder.neighbours)
        routers.formUnion(finder.routers)
    }
}
