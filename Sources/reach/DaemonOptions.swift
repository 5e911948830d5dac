internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore

/// Whether the daemon is asked, and where.
struct DaemonOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Ask the daemon that listens there, and nobody else.", valueName: "path"))
    var socket: String?

    @Flag(help: "Ask the kernel, even if a daemon runs.")
    var noDaemon = false

    func validate() throws {
        if noDaemon && socket != nil { throw ValidationError("--socket and --no-daemon exclude each other") }
    }

    /// The states of targets as the daemon knows them.
    ///
    /// - Returns: `nil` where the kernel is to be asked instead: no daemon is wanted, or none answers and none was asked
    ///   for by name.
    func states(of targets: [Target]) throws(CommandError) -> [ReachabilityState]? {
        guard !noDaemon else { return nil }
        let path = socket ?? SocketPath.forClient(uid: getuid(), environment: SocketPath.processEnvironment)
        let wasNamed = socket != nil || getenv("REACH_SOCKET") != nil
        do throws(ControlError) {
            var client = try ControlClient(path: path)
            var states: [ReachabilityState] = []
            for target in targets { states.append(try client.status(of: target)) }
            return states
        } catch {
            guard wasNamed else { return nil }
            throw CommandError(status: .cannotObserve, message: error.description)
        }
    }
}
