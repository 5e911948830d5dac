internal import ReachCore
internal import Synchronization

/// Numbers a monitor's changes and delivers them to the blocks, then the observers, then the sequences.
///
/// One lock fixes the order; callbacks run without it. The dispatcher holds no reference to its monitor, so that
/// pending changes do not keep the monitor alive.
final class ChangeDispatcher: Sendable {
    typealias StatusBlock = @Sendable (NetworkReachabilityStatus) -> Void
    typealias ChangeBlock = @Sendable (ReachabilityChange) -> Void

    private struct State {
        var held: ReachabilityState
        /// The change that led to `held`; `nil` while stopped or not determined.
        var latest: ReachabilityChange?
        var lastNumber: UInt64 = 0
        var run: Run?
        var statusBlock = Slot<StatusBlock>()
        var changeBlock = Slot<ChangeBlock>()
        var sequences: [ReachabilityChanges.Subscription] = []
    }

    /// The time from one start to the next stop.
    struct Run {
        let pass: CallbackGate.Pass
        let watch: any ChangeWatch
    }

    /// A block and its position in the sequence of changes.
    private struct Slot<Block> {
        var block: Block?
        /// Counts the blocks that did not continue at their predecessor's position.
        var generation: UInt64 = 0
        /// Number of the last change that the block has received, or does not need.
        var delivered: UInt64 = 0
    }

    private let options: ReachabilityOptions
    private let gate = CallbackGate()
    private let pump: SerialPump
    private let state: Mutex<State>

    init(_ initial: ReachabilityState, _ options: ReachabilityOptions) {
        self.options = options
        pump = SerialPump(options.delivery)
        state = Mutex(State(held: initial))
    }

    var held: ReachabilityState { state.withLock { $0.held } }

    var isRunning: Bool { state.withLock { $0.run != nil } }

    // MARK: - Start and stop

    /// Begins a run.
    ///
    /// - Returns: The new run; `nil` if the monitor is running already.
    func begin(_ prepare: () -> any ChangeWatch) -> Run? {
        state.withLock { state in
            guard state.run == nil else { return nil }
            state.run = Run(pass: gate.open(), watch: prepare())
            return state.run
        }
    }

    /// Ends the run. No callback runs after this returns, except when a callback calls it.
    func end() {
        let (run, sequences) = state.withLock { state in
            let run = state.run
            if run != nil { gate.shut() }
            state.run = nil
            state.latest = nil
            state.held.isStale = run != nil || state.held.isStale
            defer { state.sequences = [] }
            return (run, state.sequences)
        }
        run?.watch.end()
        sequences.forEach { $0.finish() }
        gate.waitUntilEmpty()
    }

    /// Numbers a change from the source and queues its delivery, if the pass is that of the current run. Call it on the
    /// source's thread.
    func publish(_ change: ReachabilityChange, of monitor: ReachabilityMonitor, _ pass: CallbackGate.Pass) {
        let isCurrent = state.withLock { state in
            guard let run = state.run, run.pass == pass else { return false }
            state.lastNumber += 1
            let change = change.numbered(state.lastNumber)
            state.latest = change
            state.held = change.state
            pump.append { [weak monitor] in monitor.map { self.deliver(change, of: $0, pass) } }
            return true
        }
        guard isCurrent else { return }
        _ = pump.start { work in
            work()
            return true
        }
    }

    /// Marks the current state as stale, or not, if the pass is that of the current run. That is not a change, so there
    /// is no callback.
    func mark(isStale: Bool, _ pass: CallbackGate.Pass) {
        state.withLock { state in
            if let run = state.run, run.pass == pass { state.held.isStale = isStale }
        }
    }

    private func deliver(_ change: ReachabilityChange, of monitor: ReachabilityMonitor, _ pass: CallbackGate.Pass) {
        let number = change.sequenceNumber
        if !change.isInitial || options.wantsInitialEvent {
            if change.isOfStatus {
                pass.perform { claim(\.statusBlock, number)?(change.state.networkReachabilityStatus) }
            }
            pass.perform { claim(\.changeBlock, number)?(change) }
            options.notificationCenter.deliver(change, of: monitor, pass)
        }
        for sequence in state.withLock({ $0.sequences }) { sequence.yield(change) }
    }

    /// The slot's block, if it has not received this change yet. Marks the change as delivered.
    private func claim<Block>(
        _ slot: any WritableKeyPath<State, Slot<Block>> & Sendable, _ number: UInt64
    ) -> Block? {
        state.withLock { state in
            guard let block = state[keyPath: slot].block, state[keyPath: slot].delivered < number else { return nil }
            state[keyPath: slot].delivered = number
            return block
        }
    }

    // MARK: - Registration

    func setStatusBlock(_ block: StatusBlock?, of monitor: ReachabilityMonitor) {
        set(\.statusBlock, block, of: monitor) { block, change in block(change.state.networkReachabilityStatus) }
    }

    func setChangeBlock(_ block: ChangeBlock?, of monitor: ReachabilityMonitor) {
        set(\.changeBlock, block, of: monitor) { block, change in block(change) }
    }

    /// Sets a block. A block that is set late receives the current state. One that replaces another from within a
    /// callback continues at that one's position instead; otherwise a block that sets itself would be called endlessly.
    private func set<Block: Sendable>(
        _ slot: any WritableKeyPath<State, Slot<Block>> & Sendable, _ block: Block?, of monitor: ReachabilityMonitor,
        call: @escaping @Sendable (Block, ReachabilityChange) -> Void
    ) {
        let isInside = gate.isInside
        let replaced: Block? = state.withLock { state in
            let old = state[keyPath: slot].block
            state[keyPath: slot].block = block
            if isInside, old != nil { return old }
            state[keyPath: slot].generation += 1
            let generation = state[keyPath: slot].generation
            state[keyPath: slot].delivered = state.lastNumber
            guard block != nil, options.wantsInitialEvent else { return old }
            replay(in: state, of: monitor) { change, _, pass in
                pass.perform {
                    self.state.withLock { state in
                        state[keyPath: slot].generation == generation ? state[keyPath: slot].block : nil
                    }.map { call($0, change) }
                }
            }
            return old
        }
        // The old block is released outside the lock, since releasing what it captures may run any code.
        withExtendedLifetime(replaced) {}
        start()
    }

    /// Adds an observer, which receives the current state first, then every change.
    func add(_ observer: ReachabilityObserver, of monitor: ReachabilityMonitor) {
        let center = options.notificationCenter
        state.withLock { state in
            observer.begin(after: state.lastNumber, of: monitor.id)
            guard options.wantsInitialEvent else { return }
            replay(in: state, of: monitor) { change, monitor, pass in
                center.deliver(change, to: [observer], of: monitor, pass)
            }
        }
        start()
    }

    /// Adds a sequence, which begins with the current state.
    func add(_ sequence: ReachabilityChanges.Subscription, of monitor: ReachabilityMonitor) {
        state.withLock { state in
            sequence.begin(after: state.lastNumber)
            state.sequences.append(sequence)
            replay(in: state, of: monitor) { change, _, _ in sequence.yieldInitial(change) }
        }
        start()
    }

    func remove(_ sequence: ReachabilityChanges.Subscription) {
        state.withLock { $0.sequences.removeAll { $0 === sequence } }
    }

    /// Queues the delivery of the current state as an initial change. Call it with the lock held.
    private func replay(
        in state: State, of monitor: ReachabilityMonitor,
        deliver: @escaping @Sendable (ReachabilityChange, ReachabilityMonitor, CallbackGate.Pass) -> Void
    ) {
        guard let run = state.run, let change = state.latest?.asInitial(with: state.held) else { return }
        pump.append { [weak monitor] in monitor.map { deliver(change, $0, run.pass) } }
    }

    /// Starts the delivery of the queued changes.
    private func start() {
        var watch = currentWatch
        while !pump.start(onEngine: { work in watch?.perform(work) ?? false }) {
            // The run has ended. If another has begun, its first change may just have been appended.
            let next = currentWatch
            guard next !== watch else { return }
            watch = next
        }
    }

    private var currentWatch: (any ChangeWatch)? { state.withLock { $0.run?.watch } }
}
