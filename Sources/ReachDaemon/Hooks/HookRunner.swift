internal import Glibc
internal import ReachCore
package import ReachLoop

/// Runs the scripts of a directory when something changes. Lives on the loop's thread, and never makes it wait: listing
/// the directory and starting programs is done by threads that last as long as that takes.
package final class HookRunner {
    package struct Options: Hashable, Sendable {
        package var directory: HookDirectory
        /// Then it is told to end (SIGTERM, to its whole process group).
        package var timeout: Duration
        /// Then it is ended (SIGKILL).
        package var grace: Duration = .seconds(2)

        package init(directory: HookDirectory, timeout: Duration) {
            self.directory = directory
            self.timeout = timeout
        }
    }

    /// Those in force; what runs already keeps the limit that it was started with.
    package var options: Options
    private let loop: EventLoop
    private let report: (HookReport) -> Void
    private var queue = HookQueue()
    private var jobs: [String: HookJob] = [:]
    /// Events that wait for the directory to be listed.
    private var news: [HookEvent] = []
    private var isListing = false
    private var refused: [String: String] = [:]

    package init(on loop: EventLoop, _ options: Options, report: @escaping (HookReport) -> Void) {
        self.loop = loop
        self.options = options
        self.report = report
    }

    /// Hooks that are running, or about to.
    package var running: Set<String> { queue.running }

    /// Every hook is to know of this.
    package func tell(_ event: HookEvent) {
        news.append(event)
        guard !isListing else { return }
        isListing = true
        let directory = options.directory
        inBackground {
            directory.list()
        } then: {
            $0.take($1)
        }
    }

    /// Tells all that run to end, and starts no more.
    package func stop() {
        queue.stop()
        news = []
        for job in jobs.values { job.terminate() }
    }

    private func take(_ listing: HookDirectory.Listing) {
        isListing = false
        for (path, problem) in listing.refused.sorted(by: { $0.key < $1.key }) where refused[path] != problem {
            report(.refused(path: path, problem))
        }
        refused = listing.refused
        let events = news
        news = []
        for event in events { queue.add(event, for: listing.hooks).forEach(start) }
    }

    private func start(_ run: HookQueue.Run) {
        let options = options
        inBackground { () -> Result<HookProcess, HookFailure> in
            // It may have waited long, and somebody may have changed the file meanwhile.
            guard options.directory.list().hooks.contains(run.hook) else {
                return .failure(HookFailure(description: "it is no longer there, or must not be run"))
            }
            do throws(SystemError) {
                return .success(try HookProcess.start(options.directory.path + "/" + run.hook, for: run))
            } catch {
                return .failure(HookFailure(description: error.description))
            }
        } then: {
            $0.take($1, of: run, options)
        }
    }

    private func take(_ started: Result<HookProcess, HookFailure>, of run: HookQueue.Run, _ options: Options) {
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

    /// Does something on a thread of its own, and comes back with the result unless this runner is gone.
    private func inBackground<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value, then reply: @escaping @Sendable (HookRunner, Value) -> Void
    ) {
        let (mailbox, door) = (loop.mailbox, HookReference(self))
        BackgroundThread.start(named: "reach-hook") {
            let value = work()
            mailbox.post { _ in
                if let runner = door.runner { reply(runner, value) }
            }
        }
    }
}

private struct HookFailure: Error {
    let description: String
}

/// Carries a runner's reference through other threads, which never open it: only its own loop does.
private struct HookReference: @unchecked Sendable {
    weak var runner: HookRunner?

    init(_ runner: HookRunner) { self.runner = runner }
}
