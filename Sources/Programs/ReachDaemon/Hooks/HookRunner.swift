internal import Glibc
internal import ReachCore
package import ReachLoop

/// Runs the scripts of a directory when a target changes. Confined to the loop's thread, which it never blocks:
/// short-lived threads list the directory and start the programs.
package final class HookRunner {
    package struct Options: Hashable, Sendable {
        package var directory: HookDirectory
        /// The time limit of a run. At its end the hook and its descendants get SIGTERM.
        package var timeout: Duration
        /// The time from SIGTERM to SIGKILL.
        package var grace: Duration = .seconds(2)

        package init(directory: HookDirectory, timeout: Duration) {
            self.directory = directory
            self.timeout = timeout
        }
    }

    /// The current options. Running hooks keep the limits they started with.
    package var options: Options
    private let loop: EventLoop
    private let loopReference = LoopReference<HookRunner>()
    private let report: (HookReport) -> Void
    private var queue = HookQueue()
    private var jobs: [String: HookJob] = [:]
    /// Events that wait for the directory to be listed.
    private var pending: [(event: () -> HookEvent, isOfRequest: Bool)] = []
    private var isListing = false
    /// How many of ``pending`` are of requests.
    private var pendingRequests = 0
    /// How many events beyond the limit are removed at a time.
    private static let surplus = 64
    /// The last turn of the loop in which there was certainly no directory.
    private var knownMissing: UInt64?
    private var refused: [String: String] = [:]

    package init(on loop: EventLoop, _ options: Options, report: @escaping (HookReport) -> Void) {
        self.loop = loop
        self.options = options
        self.report = report
        loopReference.owner = self
    }

    deinit { loopReference.owner = nil }

    /// The hooks that are running or starting.
    package var running: Set<String> { queue.running }

    /// Whether there may be hooks for an event of this turn of the loop: most machines have none, and then a change of
    /// a thousand targets needs no thread and no memory.
    package var mayHaveHooks: Bool {
        if knownMissing != loop.turn {
            guard options.directory.isKnownMissing else { return true }
            knownMissing = loop.turn
            refused = [:]
        }
        return isListing
    }

    /// Runs every hook with the event, which is made only if there is a hook.
    package func handle(_ event: @autoclosure @escaping () -> HookEvent, isOfRequest: Bool = false) {
        guard mayHaveHooks else { return }
        pending.append((event, isOfRequest))
        if isOfRequest { pendingRequests += 1 }
        keepNewest(ofRequests: isOfRequest, slack: Self.surplus)
        guard !isListing else { return }
        isListing = true
        let directory = options.directory
        inBackground {
            directory.list()
        } then: {
            $0.receive($1)
        }
    }

    /// Terminates the running hooks, and starts no more.
    package func stop() {
        queue.stop()
        (pending, pendingRequests) = ([], 0)
        for job in jobs.values { job.terminate() }
    }

    /// Beyond the limit the newest events count, as they do in the queue: of requests, and of others. Many at a time
    /// are removed, since each removal moves all that stay.
    private func keepNewest(ofRequests isOfRequest: Bool, slack: Int) {
        let count = isOfRequest ? pendingRequests : pending.count - pendingRequests
        guard count > HookQueue.limit + slack else { return }
        var left = count - HookQueue.limit
        if isOfRequest { pendingRequests -= left }
        pending.removeAll { item in
            guard item.isOfRequest == isOfRequest, left > 0 else { return false }
            left -= 1
            return true
        }
    }

    private func receive(_ listing: HookDirectory.Listing) {
        isListing = false
        for (path, problem) in listing.refused.sorted(by: { $0.key < $1.key }) where refused[path] != problem {
            report(.refused(path: path, problem))
        }
        refused = listing.refused
        for isOfRequest in [false, true] { keepNewest(ofRequests: isOfRequest, slack: 0) }
        let events = pending
        (pending, pendingRequests) = ([], 0)
        guard !listing.hooks.isEmpty else { return }
        for (event, _) in events { queue.add(event(), for: listing.hooks).forEach(start) }
    }

    private func start(_ run: HookQueue.Run) {
        let options = options
        inBackground { () -> Result<HookProcess, HookFailure> in
            // The run may have waited for long, and the file may have changed meanwhile.
            guard options.directory.list().hooks.contains(run.hook) else {
                return .failure(HookFailure(description: "it is no longer there, or must not be run"))
            }
            do throws(SystemError) {
                return .success(try HookProcess.start(options.directory.path + "/" + run.hook, for: run))
            } catch {
                return .failure(HookFailure(description: error.description))
            }
        } then: {
            $0.receive($1, of: run, options)
        }
    }

    private func receive(_ started: Result<HookProcess, HookFailure>, of run: HookQueue.Run, _ options: Options) {
        do throws(HookFailure) {
            let job = HookJob(try started.get(), of: run, on: loop, options, report: report) { [unowned self] in
                jobs[run.hook] = nil
                queue.finished(run.hook).map(start)
            }
            jobs[run.hook] = job
        } catch {
            report(.failed(hook: run.hook, error.description))
            queue.finished(run.hook).map(start)
        }
    }

    /// Runs `work` on a thread of its own, and `reply` with its result on the loop's thread, unless the runner is gone.
    private func inBackground<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value, then reply: @escaping @Sendable (HookRunner, Value) -> Void
    ) {
        let (mailbox, reference) = (loop.mailbox, loopReference)
        BackgroundThread.start(named: "reach-hook") {
            let value = work()
            mailbox.post { _ in
                if let runner = reference.owner { reply(runner, value) }
            }
        }
    }
}

private struct HookFailure: Error {
    let description: String
}
