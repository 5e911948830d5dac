internal import ReachControl
internal import ReachCore
internal import ReachLoop

/// Waits on the calling thread until configured probes are up, which only the daemon knows.
struct ProbeWaiter {
    let names: [String]
    let source: DaemonOptions.Source

    /// - Throws: ``CommandError`` if they are not up in time, do not exist, or no daemon says so.
    func wait(within limit: Duration?) throws(CommandError) {
        guard case .daemon(let path, _) = source else { throw Self.noDaemon }
        let loop: EventLoop
        do throws(SystemError) {
            loop = try EventLoop()
        } catch {
            throw CommandError(status: .cannotObserve, message: "cannot watch: \(error)")
        }
        var result: Result<Void, CommandError>?
        func look() {
            do throws(CommandError) {
                guard try areUp(path) else { return }
                result = .success(())
            } catch {
                result = .failure(error)
            }
            loop.stop()
        }
        // A state comes first, also after a reconnection, so that no turn of a probe is missed.
        let watch = DaemonWatch(path: path, target: .internet, on: loop) { event in
            switch event {
            case .unavailable(let error, _):
                result = .failure(.cannotAsk(error))
                loop.stop()
            case .disconnected: break
            default: look()
            }
        }
        loop.afterEvents {
            watch.start()
            guard let limit else { return }
            loop.schedule(at: SystemClock.boot + max(limit, .milliseconds(50))) { loop.stop() }
        }
        loop.run()
        watch.cancel()
        guard let result else {
            throw CommandError(
                status: .timedOut,
                message: DisplayText.sanitized("not up: " + names.map { "probe \($0)" }.joined(separator: ", ")))
        }
        try result.get()
    }

    private func areUp(_ path: String) throws(CommandError) -> Bool {
        let reports: [ProbeReport]
        do throws(ControlError) {
            var client = try ControlClient(path: path, patience: .seconds(5))
            reports = try client.probes()
        } catch {
            throw .cannotAsk(error)
        }
        for name in names where !reports.contains(where: { $0.name == name }) {
            let configured = reports.map(\.name)
            let list =
                configured.isEmpty ? "; the daemon has none" : "; there are \(configured.joined(separator: ", "))"
            throw CommandError(
                status: .usage,
                message: DisplayText.sanitized(
                    "no probe is named '\(name)'"
                        + (NearestWord.find(name, among: configured).map { "; did you mean '\($0)'?" } ?? list)))
        }
        return names.allSatisfy { name in reports.contains { $0.name == name && $0.state == .up } }
    }

    private static var noDaemon: CommandError {
        CommandError(
            status: .cannotObserve,
            message: "\"probe=\" needs reachd, which has the probes; reachd does not run, or --no-daemon leaves it out")
    }
}
