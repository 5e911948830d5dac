internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachTerminal

struct WaitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait for conditions.",
        discussion: """
            Conditions are \(NetworkCondition.grammar); answers: the target, a URL (http, https, tcp, tls, icmp, dns), \
            HOST:PORT or a host, is asked until it answers; probe=NAME: that probe of the daemon is up. Without \
            "answers" nothing is sent to the target. Asks the daemon if one runs, otherwise the kernel.

            Exit status: 0 as soon as all hold, 75 no link is meant to be up (--if-expected), 124 on timeout, 2 usage, \
            4 cannot observe.

            Example: reach wait --until unmetered --timeout 5m
            """)

    @Option(
        name: .customLong("until"),
        help: ArgumentHelp(
            "What to wait for; \"reachable\" by default. May be given several times: all must hold.",
            valueName: "condition"),
        completion: ValueCompletion.condition, transform: { try CommandLineValue.waitTerms($0) })
    var conditions: [WaitTerms] = []

    @Option(
        help: ArgumentHelp("Give up after this long.", valueName: "duration"),
        transform: { try CommandLineValue.duration($0) })
    var timeout: Duration?

    @Flag(help: "End at once, with 75, while they do not hold and no link is meant to be up.")
    var ifExpected = false

    @OptionGroup var daemon: DaemonOptions

    @OptionGroup var observation: ObservationOptions

    @Argument(
        help: "The target; the Internet by default.", completion: ValueCompletion.target,
        transform: { try CommandLineValue.waitTarget($0) })
    var target: WaitTarget = .internet

    func validate() throws { try daemon.exclude(observation.given) }

    var query: WaitQuery {
        var query = WaitQuery(source: daemon.source(observation.given))
        (query.target, query.terms, query.timeout) = (target, conditions, timeout)
        (query.kernelOptions, query.ifExpected) = (observation.engineOptions, ifExpected)
        return query
    }

    func run() throws { try query.run() }
}

/// A wait, as `reach wait` runs it.
struct WaitQuery {
    var target: WaitTarget = .internet
    var terms: [WaitTerms] = []
    var timeout: Duration?
    var source: DaemonOptions.Source
    var kernelOptions = ReachabilityEngine.Options()
    var ifExpected = false

    func run() throws {
        let waiter = try Waiter(
            target: target, terms: terms, timeout: timeout, source: source, kernelOptions: kernelOptions,
            ifExpected: ifExpected)
        try waiter.wait()
        guard terms.isEmpty, target.namesService else { return }
        StandardError.write(
            "reach: there is a path to \(DisplayText.sanitized(target.text)); whether it answers was not tested, "
                + "see --until answers\n")
    }
}

/// Waits for conditions on the calling thread.
struct Waiter {
    let target: Target
    let conditions: [NetworkCondition]
    let timeout: Duration?
    let source: DaemonOptions.Source
    let kernelOptions: ReachabilityEngine.Options
    /// Whether to give up while no link is meant to be up.
    private let ifExpected: Bool
    /// The URL that is to answer.
    private let question: String?
    /// The probes that are to be up.
    private let probes: [String]

    /// - Parameter terms: Without any, the target is to be reachable.
    /// - Throws: ``CommandError`` for a target that cannot be asked.
    init(
        target: WaitTarget, terms: [WaitTerms], timeout: Duration?, source: DaemonOptions.Source,
        kernelOptions: ReachabilityEngine.Options, ifExpected: Bool = false
    ) throws(CommandError) {
        self.ifExpected = ifExpected
        self.target = target.target
        conditions = terms.isEmpty ? [.reachable] : terms.compactMap(\.condition)
        question = terms.contains(where: \.answers) ? try target.question : nil
        probes = terms.flatMap(\.probes)
        self.timeout = timeout
        self.source = source
        self.kernelOptions = kernelOptions
    }

    /// - Throws: ``CommandError`` if the conditions do not hold in time, or cannot be observed.
    func wait() throws(CommandError) {
        try NetworkNames.check(conditions, of: source)
        let deadline = timeout.map { SystemClock.boot + $0 }
        func remaining() -> Duration? { deadline.map { max($0 - SystemClock.boot, .zero) } }
        var pause = Backoff(first: .seconds(1), longest: .seconds(10))
        while true {
            if !conditions.isEmpty { try waitForPath(within: remaining()) }
            if !probes.isEmpty { try ProbeWaiter(names: probes, source: source).wait(within: remaining()) }
            guard let question else { return }
            guard let problem = try ask(question, within: remaining()) else { return }
            let wait = pause.wait()
            if let left = remaining(), left <= wait {
                if left > .zero { try sleep(left) }
                throw CommandError(status: .timedOut, message: DisplayText.sanitized("\(question): \(problem)"))
            }
            // The address may be reached otherwise by then, or a link may have come up: no reason to wait longer.
            try sleep(wait)
        }
    }

    /// Asks the target once.
    ///
    /// - Returns: Why it did not answer; `nil` if it did.
    private func ask(_ question: String, within remaining: Duration?) throws(CommandError) -> String? {
        // With a timeout of 0 it is still asked once.
        let limit = max(min(remaining ?? Self.attemptLimit, Self.attemptLimit), Self.shortestAttempt)
        let result = try ProbeAttempt.make(ProbeOrder(target: question, timeout: limit), from: source).result
        if result.outcome == .ok { return nil }
        return result.detail.isEmpty ? result.outcome.reason ?? result.outcome.word : result.detail
    }

    private static let attemptLimit: Duration = .seconds(5)
    private static let shortestAttempt: Duration = .milliseconds(500)

    /// Waits until the time is over or the path to the target changes, which is reason to ask again at once.
    private func sleep(_ time: Duration) throws(CommandError) {
        let loop = try Self.loop()
        var hasBegun = false
        let watch = TargetWatch(
            of: target, from: source, kernelOptions: kernelOptions, configuration: .none, seeksPath: true, on: loop
        ) { event, _ in
            guard event.state != nil else { return }
            if hasBegun { loop.stop() }
            hasBegun = true
        }
        loop.afterEvents {
            watch.start()
            loop.schedule(at: SystemClock.boot + time) { loop.stop() }
        }
        loop.run()
        if let failure = watch.failure { throw failure }
    }

    private static func loop() throws(CommandError) -> EventLoop {
        do throws(SystemError) {
            return try EventLoop()
        } catch {
            throw CommandError(status: .cannotObserve, message: "cannot watch: \(error)")
        }
    }

    private func waitForPath(within remaining: Duration?) throws(CommandError) {
        guard try holds(on: try Self.loop(), within: remaining) else { throw CommandError(status: .timedOut) }
    }

    private func holds(on loop: EventLoop, within timeout: Duration?) throws(CommandError) -> Bool {
        var isFulfilled = false
        // The timeout counts only after the source has answered once, so that a timeout of 0 still tests the
        // conditions.
        var (isAnswered, isTimeUp, isHopeless) = (false, false, false)
        let origin = ConditionWatch.Source(target: target, source: source, kernelOptions: kernelOptions)
        let watch = ConditionWatch(conditions, of: origin, on: loop) { holds in
            isAnswered = true
            isFulfilled = isFulfilled || holds
            isHopeless = !isFulfilled && ifExpected && !expectsLink()
            if isFulfilled || isTimeUp || isHopeless { loop.stop() }
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
        if let failure = watch.failure { throw failure }
        if isHopeless { throw CommandError(status: .givenUp, message: "no link is meant to be up") }
        return isFulfilled
    }

    /// Whether a link that could lead to the target is meant to be up. Where the links cannot be read, one may be.
    private func expectsLink() -> Bool {
        var source = source
        guard let read = try? LinkReports.read(from: &source, kernelOptions: kernelOptions) else { return true }
        return read.reports.contains { report in
            if case .interface(let name) = target.subject, !report.link.isNamed(name) { return false }
            return LinkExpectation(of: report.link).isMet(by: report)
        }
    }
}
