internal import ReachTesting

/// A daemon in a namespace, with its files in a directory, that can be started again, and the queue's command that
/// calls it.
struct QueueDaemonStage {
    let namespace: TestNamespace
    let directory: TemporaryDirectory

    /// Starts the daemon with `reach.toml` of the directory, and waits for its first event.
    func daemon() throws -> RunningProgram {
        let daemon = try BuiltProgram(named: "reachd").start(
            [
                "--config", directory.path + "/reach.toml", "--socket", directory.path + "/socket", "--state",
                directory.path + "/state", "--events",
            ], in: namespace.name)
        _ = try daemon.nextLine()
        return daemon
    }

    /// `reach queue`.
    func queue(_ arguments: [String]) throws -> (status: CInt, output: String) {
        let finished = try BuiltProgram.reach.start(["queue"] + arguments + ["--socket", directory.path + "/socket"])
            .finish()
        return (finished.status, finished.lines.joined(separator: "\n"))
    }
}
