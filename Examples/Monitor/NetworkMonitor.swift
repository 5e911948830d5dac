import Glibc
import Reachability

/// network-monitor [TARGET]: prints whether the target can be reached, and every change until Ctrl-C. The target is the
/// Internet, a host, an address, or `interface:NAME`.
@main enum NetworkMonitor {
    static func main() async {
        let target: Target
        do throws(TargetError) {
            target = try Target(CommandLine.arguments.dropFirst().first ?? "internet")
        } catch {
            print(error)
            exit(2)
        }
        let monitor = ReachabilityMonitor(target)
        monitor.start()
        // Begins with the current state. It sends nothing: the kernel knows the paths, and reports their changes.
        for await change in monitor.changes {
            print(describe(change.state), "(\(change.cause.rawValue))")
            fflush(nil)
        }
    }

    private static func describe(_ state: ReachabilityState) -> String {
        guard state.isReachable else {
            return "\(state.target): \(state.status.rawValue), \(state.reason?.rawValue ?? "no reason")"
        }
        var words = ["\(state.target): reachable", "by \(state.interface ?? "-")"]
        if let linkClass = state.linkClass { words.append(linkClass.rawValue) }
        if state.isMetered { words.append("metered") }
        let families = [("IPv4", state.supportsIPv4), ("IPv6", state.supportsIPv6)]
        words += families.filter(\.1).map(\.0)
        return words.joined(separator: ", ")
    }
}
