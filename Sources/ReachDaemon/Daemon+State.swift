internal import Glibc
internal import Logging
internal import ReachControl
internal import ReachCore
internal import ReachLoop

/// What the daemon keeps on the disk: its history and its queue.
extension Daemon {
    /// Two must not write one history or one queue: without the directory's lock there is neither.
    ///
    /// - Throws: When another daemon has it. That it cannot be had at all is only logged.
    func claimState() throws(StartError) {
        let usual = HistoryFiles.directory(isRoot: getuid() == 0, environment: SocketPath.processEnvironment)
        guard configuration.history.entries > 0 || configuration.queue.isEnabled,
            let directory = options.stateDirectory ?? configuration.history.directory ?? usual
        else { return }
        do throws(FileLock.Failure) {
            stateDirectory = try StateDirectory(directory)
        } catch {
            switch error {
            case .held(let process): throw .stateInUse(directory: directory, process: process)
            case .unsafe(let path, let reason):
                log.error("there is no history and no queue", metadata: ["error": "\(path): \(reason)"])
            case .failed(let error):
                log.warning("there is no history and no queue", metadata: ["error": "\(error)"])
            }
        }
    }

    func beginHistory() {
        guard configuration.history.entries > 0, let directory = stateDirectory?.path else { return }
        do throws(SystemError) {
            let history = try EventHistory(
                HistoryFiles(directory: directory), entries: configuration.history.entries, at: SystemClock.now,
                boot: BootIdentity.current
            ) { [log] in log.warning("\($0)") }
            history.leaveSigns(on: loop)
            self.history = history
        } catch {
            log.warning("there is no history", metadata: ["error": "\(error)"])
        }
    }

    func beginQueue() {
        guard configuration.queue.isEnabled, let directory = stateDirectory?.path else { return }
        queue.open(in: directory, configuration, version: options.version, network: watcher)
        watcher.whenSurveyed { [unowned self] in queue.learn($0) }
        queue.whenPathBroken = { [unowned self] in watcher.noteFailure() }
        queue.whenAnswered = { [unowned self] in watcher.noteAnswer(in: nil) }
    }
}
