internal import Glibc
internal import ReachCore
internal import ReachTesting
internal import Reachability

/// A namespace with an uplink, and a daemon in it that can be started and killed.
final class DaemonStage {
    let namespace: TestNamespace
    let directory: TemporaryDirectory
    private var daemon: RunningProgram?

    var socket: String { directory.path + "/socket" }

    init() throws {
        namespace = try TestNamespace()
        try namespace.vethPair()
        directory = try TemporaryDirectory()
    }

    func start() throws {
        let daemon = try BuiltProgram(named: "reachd").start(
            ["--socket", socket, "--state", directory.path, "--events"], in: namespace.name)
        _ = try daemon.nextLine()
        self.daemon = daemon
    }

    func kill() throws {
        daemon?.send(SIGKILL)
        _ = try daemon?.finish()
        daemon = nil
    }

    func monitor(
        _ target: Target = .internet, _ change: (inout ReachabilityOptions) -> Void = { _ in }
    ) -> ReachabilityMonitor {
        var options = ReachabilityOptions()
        options.notificationCenter = ReachabilityNotificationCenter()
        options.source = .daemon(socket: socket)
        change(&options)
        return ReachabilityMonitor(target, options: options)
    }

    /// The `defer` that calls this also keeps it alive.
    func end() {
        daemon?.send(SIGKILL)
        namespace.remove()
    }
}
