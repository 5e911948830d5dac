internal import ReachCore
internal import Synchronization

/// Numbers a monitor's changes and tells them: block, then observers, then sequences.
///
/// One lock fixes the order, and none is held while anybody is told. It does not know its monitor, which must be free
/// to go while changes wait to be told.
final class ChangeDispatcher: Sendable {
    typealias StatusBlock = @Sendable (NetworkReachabilityStatus) -> Void
    typealias ChangeBlock = @Sendable (ReachabilityChange) -> Void

    private struct State {
        var held: ReachabilityState
        /// What led to `held`; `nil` while stopped or not determined.
        var latest: ReachabilityChange?
        var lastNumber: UInt64 = 0
        var run: Run?
        var statusBlock = Slot<StatusBlock>()
        var changeBlock = Slot<ChangeBlock>()
        var sequences: [ReachabilityChanges.Subscription] = []
    }

    /// From one start to one stop.
    struct Run {
        let pass: CallbackGate.Pass
        let watch: any ChangeWatch
    }

    /// The one place for a block, and the number of the last change that it was told, or need not be.
    private struct Slot<Block> {
        var block: Block?
        /// Goes up with every block that does not carry on where the one before it was.
        var generation: UInt64 = 0
        var heard: UInt64 = 0
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

    // MARK: - From start to stop

    /// - Returns: The new run; `nil` if one is under way.
    func begin(_ prepare: () -> any ChangeWatch) -> Run? {
        state.withLock { state in
            guard state.run == nil else { return nil }
            state.run = Run(pass: gate.open(), watch: prepare())
            return state.run
        }
    }

    /// Nothing is told any more once this returns.
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

    /// Takes what the run with this pass was told by the engine. To be called on the engine's thread.
    func publish(_ change: ReachabilityChange, of monitor: ReachabilityMonitor, _ pass: CallbackGate.Pass) {
        let isCurrent = state.withLock { state in
            guard let run = state.run, run.pass == pass else { return false }
            state.lastNumber += 1
            let change = change.numbered(state.lastNumber)
            state.latest = change
            state.held = change.state
            pump.append { [weak monitor] in monitor.map { self.tell(change, of: $0, pass) } }
            return true
        }
        guard isCurrent else { return }
        _ = pump.start { work in
            work()
            return true
        }
    }

    /// Takes what the run with this pass was told of the state in force. That is no change, and nobody is told.
    func mark(isStale: Bool, _ pass: CallbackGate.Pass) {
        state.withLock { state in
            if let run = state.run, run.pass == pass { state.held.isStale = isStale }
        }
    }

    private func tell(_ change: ReachabilityChange, of monitor: ReachabilityMonitor, _ pass: CallbackGate.Pass) {
        let number = change.sequenceNumber
        if !change.isInitial || options.wantsInitialEvent {
            if change.isOfStatus {
                pass.perform { claim(\.statusBlock, number)?(change.state.networkReachabilityStatus) }
            }
            pass.perform { claim(\.changeBlock, number)?(change) }
            options.notificationCenter.announce(change, of: monitor, pass)
        }
        for sequence in state.withLock({ $0.sequences }) { sequence.yield(change) }
    }

    /// The slot's block, if it has not been told this change; from now on it has.
    private func claim<Block>(
        _ slot: any WritableKeyPath<State, Slot<Block>> & Sendable, _ number: UInt64
    ) -> Block? {
        state.withLock { state in
            guard let block = state[keyPath: slot].block, state[keyPath: slot].heard < number else { return nil }
            state[keyPath: slot].heard = number
            return block
        }
    }

    // MARK: - Who is told

    func setStatusBlock(_ block: StatusBlock?, of monitor: ReachabilityMonitor) {
        set(\.statusBlock, block, of: monitor) { block, change in block(change.state.networkReachabilityStatus) }
    }

    func setChangeBlock(_ block: ChangeBlock?, of monitor: ReachabilityMonitor) {
        set(\.changeBlock, block, of: monitor) { block, change in block(change) }
    }

    /// A block that comes late is told the state in force. One that replaces another from within a callback carries
    /// on where that one was; otherwise a block that sets itself would be called for ever.
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
            state[keyPath: slot].heard = state.lastNumber
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
        withExtendedLifetime(replaced) {}  // Let go outside the lock: what a block holds may be anything.
        start()
    }

    /// Tells an observer everything from now on, the state in force first.
    func add(_ observer: ReachabilityObserver, of monitor: ReachabilityMonitor) {
        let center = options.notificationCenter
        state.withLock { state in
            observer.begin(after: state.lastNumber, of: monitor.id)
            guard options.wantsInitialEvent else { return }
            replay(in: state, of: monitor) { change, monitor, pass in
                center.tell([observer], change, of: monitor, pass)
            }
        }
        start()
    }

    /// Adds a sequence, which is told the state in force first.
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

    /// To be called under the lock.
    private func replay(
        in state: State, of monitor: ReachabilityMonitor,
        tell: @escaping @Sendable (ReachabilityChange, ReachabilityMonitor, CallbackGate.Pass) -> Void
    ) {
        guard let run = state.run, let change = state.latest?.asInitial(with: state.held) else { return }
        pump.append { [weak monitor] in monitor.map { tell(change, $0, run.pass) } }
    }

    /// Sees to it that what was appended is told.
    private func start() {
        var watch = currentWatch
        while !pump.start(onEngine: { work in watch?.perform(work) ?? false }) {
            // The run had ended. If another has begun, its first change may just have been appended.
            let next = currentWatch
            guard next !== watch else { return }
            watch = next
        }
    }

    private var currentWatch: (any ChangeWatch)? { state.withLock { $0.run?.watch } }
}
