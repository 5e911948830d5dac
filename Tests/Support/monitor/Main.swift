internal import Glibc
internal import Reachability

/// monitor SOCKET: prints the changes that a monitor of the Internet receives from the daemon on this socket. It also
/// prints when the monitor's state becomes stale or fresh, which is no change. For tests, which run it without netlink.
@main enum Main {
    static func main() {
        guard CommandLine.arguments.count == 2 else { exit(2) }
        var options = ReachabilityOptions()
        options.source = .daemon(socket: CommandLine.arguments[1])
        let monitor = ReachabilityMonitor(options: options)
        monitor.setChangeBlock { change in
            let aspects = change.aspects.map(\.rawValue).joined(separator: ",")
            write("\(change.sequenceNumber) \(change.state.status.rawValue) \(change.cause.rawValue) \(aspects)")
        }
        monitor.start()
        var isStale = false
        while true {
            if monitor.state.isStale != isStale {
                isStale.toggle()
                write(isStale ? "stale" : "fresh")
            }
            usleep(2000)
        }
    }

    /// Prints a whole line without buffering, from any thread.
    private static func write(_ line: String) {
        var line = line + "\n"
        line.withUTF8 { _ = Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}
