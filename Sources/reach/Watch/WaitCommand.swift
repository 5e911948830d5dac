internal import ArgumentParser
internal import Glibc
internal import ReachCore
internal import ReachKernel
internal import ReachLoop

struct WaitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until conditions hold.",
        discussion: """
            Conditions are \(NetworkCondition.grammar). The daemon is asked if one runs, otherwise the kernel.

            Exit status: 0 as soon as all hold, 124 on timeout, 2 usage, 4 cannot observe.
            """)

    @Option(
        name: .customLong("until"),
        help: ArgumentHelp(
            "What to wait for; \"reachable\" if nothing is given. May be given several times: all must hold.",
            valueName: "condition"),
        transform: { try CommandLineValue.condition($0) })
    var conditions: [NetworkCondition] = []

    @Option(
        help: ArgumentHelp("Give up after this long.", valueName: "duration"),
        transform: { try CommandLineValue.duration($0) })
    var timeout: Duration?

    @OptionGroup var daemon: DaemonOptions

    @OptionGroup var observation: ObservationOptions

    @Argument(
        help: "What to wait for; the Internet if nothing is given.", transform: { try CommandLineValue.target($0) })
    var target: Target = .internet

    func validate() throws { try daemon.exclude(observation.given) }

    func run() throws {
        let waiter = Waiter(
            target: target, conditions: conditions.isEmpty ? [.reachable] : conditions, timeout: timeout,
            source: daemon.source(observation.given), kernelOptions: observation.engineOptions)
        try waiter.wait()
    }
}

/// Waits for conditions on the calling thread.
struct Waiter {
    let target: Target
    let conditions: [NetworkCondition]
    let timeout: Duration?
    let source: DaemonOptions.Source
    let kernelOptions: EngineOptions

    /// - Throws: ``CommandError`` when they do not come to hold in time, or cannot be observed.
    func wait() throws(CommandError) {
        let loop: EventLoop
        do throws(SystemError) {
            loop = try EventLoop()
        } catch {
            throw CommandError(status: .cannotObserve, message: "cannot watch: \(error)")
        }
        guard try holds(on: loop) else { throw CommandError(status: .timedOut) }
    }

    private func holds(on loop: EventLoop) throws(CommandError) -> Bool {
        var isFulfilled = false
        // Whoever is asked must have answered once before time can be up: "at once" is not before that.
        var (isAnswered, isTimeUp) = (false, false)
        var unproved: CommandError?
        let watch = TargetWatch(
            of: target, from: source, kernelOptions: kernelOptions, mustObserve: true, on: loop
        ) { event in
            guard let state = event.state else { return }
            isAnswered = true
            // Nobody would ever prove it.
            if conditions.contains(where: \.isValidated), !state.isValidated {
                unproved = .notValidated(target, by: event)
                return loop.stop()
            }
            isFulfilled = isFulfilled || conditions.allSatisfy { $0.holds(in: state) }
            if isFulfilled || isTimeUp { loop.stop() }
        }
        loop.afterEvents {
            watch.start()
            guard let timeout else { return }
            loop.schedule(at: SystemClock.boot + timeout) {
                isTimeUp = true
                if isAnswered || !watch.awaitsDaemon { loop.stop() }
            }
        }
        loop.run()
        if let failure = watch.failure ?? unproved { throw failure }
        return isFulfilled
    }
}

extension CommandError {
    /// No probe runs that could prove the Internet, and what to do about that.
    fileprivate static func notValidated(_ target: Target, by event: TargetWatch.Event) -> CommandError {
        let advice: String
        switch (target.subject, event) {
        case (.name, _), (.address, _), (.prefix, _): advice = "they prove the Internet, and nothing of this target"
        case (_, .kernel): advice = "reachd makes them, and is not asked here: see [connectivity] in reach.toml(5)"
        case (_, .daemon): advice = "reachd makes none: give it endpoints below [connectivity], see reach.toml(5)"
        }
        return CommandError(status: .cannotObserve, message: "\"internet\" is proved by probes; \(advice)")
    }
}
