internal import ReachCore
internal import ReachLoop

/// A watched target: its addresses, its state machine, and the handlers of its watches.
final class WatchedTarget {
    typealias Handler = (TargetEvent) -> Void

    let target: Target
    /// The paths that count; `nil` for the kernel's own choice, without a list of the others.
    let condition: NetworkCondition?
    /// The user whose name it is; `nil` if several want to know, or this program does.
    private(set) var owner: UInt32?
    var machine: StatusMachine
    var name = NameTracker() {
        didSet { onlyAddress = findOnlyAddress() }
    }
    /// The links that carried its paths before it was lost.
    var memory = PathMemory()
    /// The lookup of its name that is awaited.
    var lookup: (number: UInt64, id: SystemResolver.ID)?
    var holdTimer: TimerQueue.ID?
    var nameTimer: TimerQueue.ID?
    /// Whether a state has been sent: it was determined, or the wait for it is over.
    private var hasBegun = false
    private var handlers: [(id: UInt64, handler: Handler)] = []
    /// How many handlers were removed so far.
    private var removals = 0

    init(target: Target, condition: NetworkCondition?, owner: UInt32?, holdDown: HoldDown, at now: Instant) {
        self.target = target
        self.condition = condition
        self.owner = owner
        machine = StatusMachine(target: target, holdDown: holdDown, at: now)
        onlyAddress = findOnlyAddress()
    }

    var key: WatchKey { WatchKey(target: target, condition: condition) }

    /// The address that decides alone whether the target is reachable, by the kernel's own choice of a path; `nil` for
    /// other targets.
    private(set) var onlyAddress: IPAddress?

    private func findOnlyAddress() -> IPAddress? {
        guard condition == nil else { return nil }
        switch target.subject {
        case .address(let address, zone: nil): return address
        case .prefix(let prefix): return prefix.representative
        case .name: return name.addresses.count == 1 ? name.addresses.first : nil
        case .address, .internet, .interface: return nil
        }
    }

    /// Adds the addresses that decide whether the target is reachable, as far as they are known.
    func addAddresses(to addresses: inout Set<IPAddress>) {
        switch target.subject {
        case .address(let address, _): addresses.insert(address)
        case .prefix(let prefix): addresses.insert(prefix.representative)
        case .name: addresses.formUnion(name.addresses)
        case .internet, .interface: break
        }
    }

    func addOwner(_ other: UInt32?) {
        if other != owner { owner = nil }
    }

    var isWatched: Bool { !handlers.isEmpty }

    /// Adds a handler, and calls it at once with the current state if there is one.
    func add(_ id: UInt64, at now: Instant, _ handler: @escaping Handler) {
        handlers.append((id, handler))
        guard hasBegun else { return }
        handler(.change(initialChange(at: now)))
    }

    /// Removes a handler.
    ///
    /// - Returns: Whether it was one of this target's handlers.
    func remove(_ id: UInt64) -> Bool {
        guard let index = handlers.firstIndex(where: { $0.id == id }) else { return false }
        handlers.remove(at: index)
        removals += 1
        return true
    }

    /// Calls the handlers that were present when the event happened and that no earlier handler has removed.
    func send(_ event: TargetEvent) {
        if case .change = event { hasBegun = true }
        let before = removals
        for (id, handler) in handlers where removals == before || handlers.contains(where: { $0.id == id }) {
            handler(event)
        }
    }

    /// The current state, as the first event of a new handler.
    private func initialChange(at now: Instant) -> ReachabilityChange {
        ReachabilityChange(at: now, cause: .start, aspects: [], previous: nil, state: machine.state)
    }
}

/// What watches have in common that share a state machine.
struct WatchKey: Hashable {
    let target: Target
    let condition: NetworkCondition?
}

/// The watched targets, by what is watched and by the numbers of their watches.
struct TargetWatches {
    private var targets: [WatchKey: WatchedTarget] = [:]
    private var byNumber: [UInt64: WatchedTarget] = [:]
    private var lastNumber: UInt64 = 0
    /// The targets that are still to be evaluated together; `nil` where each is evaluated at once.
    private var unevaluated: [WatchedTarget]?

    var values: Dictionary<WatchKey, WatchedTarget>.Values { targets.values }

    subscript(key: WatchKey) -> WatchedTarget? { targets[key] }

    subscript(number id: UInt64) -> WatchedTarget? { byNumber[id] }

    /// A number for a watch of any kind.
    mutating func newNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    mutating func add(_ id: UInt64, to target: WatchedTarget) {
        byNumber[id] = target
        guard targets.updateValue(target, forKey: target.key) == nil else { return }
        unevaluated?.append(target)
    }

    /// Removes a watch.
    ///
    /// - Returns: Its target, if no one watches that any more.
    mutating func remove(_ id: UInt64) -> WatchedTarget? {
        guard let target = byNumber.removeValue(forKey: id), target.remove(id), !target.isWatched else { return nil }
        targets[target.key] = nil
        return target
    }

    // MARK: - Several at once

    var isTogether: Bool { unevaluated != nil }

    mutating func beginTogether() { unevaluated = [] }

    /// - Returns: The targets that were added since the beginning, and are still watched.
    mutating func endTogether() -> [WatchedTarget] {
        defer { unevaluated = nil }
        return (unevaluated ?? []).filter(\.isWatched)
    }
}

/// What is known of the Internet: the last verdict, the links that carried it before, and its epoch. A new epoch begins
/// when interface, source or gateway changes in either family.
struct InternetRecord {
    private struct PathKey: Equatable {
        let interface: InterfaceIndex?
        let source: IPAddress?
        let gateway: IPAddress?

        init(_ path: NetworkPath) {
            let isReachable = path.status == .reachable
            interface = isReachable ? path.interfaceIndex : nil
            source = isReachable ? path.source : nil
            gateway = isReachable ? path.gateway : nil
        }
    }

    /// `nil` before the first, and once paths are judged by other options.
    private(set) var verdict: Verdict?
    /// The links that carried the Internet before it was lost.
    private(set) var memory = PathMemory()
    private(set) var epoch: UInt64 = 1
    private var paths: [PathKey]?
    /// The last verdict by other options.
    private var judgedBefore: Verdict?

    /// From now on paths are judged by other options. A verdict that differs counts as an epoch: at worst something is
    /// tried once more.
    mutating func expectOtherJudgement() { (verdict, judgedBefore) = (nil, verdict) }

    /// Notes a verdict.
    ///
    /// - Returns: Whether a new epoch began. The first verdict begins none.
    mutating func note(_ new: Verdict) -> Bool {
        if new.status != .reachable, let verdict { memory.remember(verdict.ipv4, verdict.ipv6) }
        verdict = new
        let current = [PathKey(new.ipv4), PathKey(new.ipv6)]
        defer { (paths, judgedBefore) = (current, nil) }
        guard let paths, paths != current || judgedBefore.map({ $0 != new }) ?? false else { return false }
        epoch += 1
        return true
    }
}
