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
