internal import ArgumentParser
internal import Glibc
internal import ReachCore
internal import ReachEngine
internal import ReachLoop
internal import ReachNetlink

struct WaitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until conditions hold.",
        discussion: """
            Conditions are \(Condition.grammar).

            Exit status: 0 as soon as all hold, 124 on timeout, 2 usage, 4 cannot observe.
            """)

    @Option(
        name: .customLong("until"),
        help: ArgumentHelp(
            "What to wait for; \"reachable\" if nothing is given. May be given several times: all must hold.",
            valueName: "condition"),
        transform: { try CommandLineValue.condition($0) })
    var conditions: [Condition] = []

    @Option(
        help: ArgumentHelp("Give up after this long.", valueName: "duration"),
        transform: { try CommandLineValue.duration($0) })
    var timeout: Duration?

    @OptionGroup var observation: ObservationOptions

    @Argument(
        help: "What to wait for; the Internet if nothing is given.", transform: { try CommandLineValue.target($0) })
    var target: Target = .internet

    func run() throws {
        let waiter = Waiter(
            target: target, conditions: conditions.isEmpty ? [.reachable] : conditions, timeout: timeout,
            options: observation.engineOptions)
        try waiter.wait()
    }
}

/// Waits for conditions on the calling thread.
struct Waiter {
    let target: Target
    let conditions: [Condition]
    let timeout: Duration?
    let options: EngineOptions

    /// - Throws: ``CommandError`` when they do not come to hold in time, or cannot be observed.
    func wait() throws(CommandError) {
        if conditions.contains(.internet) {
            throw CommandError(
                status: .cannotObserve, message: "\"internet\" is proved by probes, and none is running here")
        }
        let loop: EventLoop
        do throws(SystemError) {
            loop = try EventLoop()
        } catch {
            throw CommandError(status: .cannotObserve, message: "cannot watch: \(error)")
        }
        guard try holds(on: loop) else { throw CommandError(status: .timedOut) }
    }

    private func holds(on loop: EventLoop) throws(CommandError) -> Bool {
        let engine = ReachabilityEngine(loop: loop, options: options)
        engine.start()
        if let blindness = engine.blindness { throw .cannotAsk(blindness) }
        var isFulfilled = false
        _ = engine.watch(target) { event in
            guard case .change(let change) = event else { return }
            guard conditions.allSatisfy({ $0.holds(in: change.state) }) else { return }
            isFulfilled = true
            loop.stop()
        }
        guard !isFulfilled else { return true }
        if let timeout {
            loop.schedule(at: SystemClock.boot + timeout) { loop.stop() }
        }
        loop.run()
        return isFulfilled
    }
}
