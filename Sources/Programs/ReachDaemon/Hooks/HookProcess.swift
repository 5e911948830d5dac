internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// A hook's process: in a process group of its own, and without the daemon's descriptors.
struct HookProcess: Sendable {
    let process: pid_t
    /// A pidfd, which is readable once the process has ended.
    let end: CInt
    /// The reading end of its standard output and standard error.
    let output: CInt

    /// Variables that the service manager passes to the daemon itself, and that its children must not inherit.
    private static let withheld = [
        "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_USEC", "WATCHDOG_PID",
        "JOURNAL_STREAM",
        "INVOCATION_ID", "MAINPID", "MANAGERPID", "SYSTEMD_EXEC_PID",
    ]

    /// Starts the hook. Reading the program from disk may block, so this must not run on the loop's thread.
    static func start(_ path: String, for run: HookQueue.Run) throws(SystemError) -> HookProcess {
        let input = FileDescriptor(
            owning: try descriptor("memfd_create") { reach_memory_file(run.event.json, run.event.json.count) })
        var ends: [CInt] = [-1, -1]
        _ = try descriptor("pipe2") { reach_pipe(&ends) }
        let writeEnd = FileDescriptor(owning: ends[1])
        do throws(SystemError) {
            let process = try spawn(
                path, input: input.rawValue, output: writeEnd.rawValue, environment: environment(run))
            return HookProcess(process: process, end: try watchEnd(of: process), output: ends[0])
        } catch {
            close(ends[0])
            throw error
        }
    }

    private static func watchEnd(of process: pid_t) throws(SystemError) -> CInt {
        do throws(SystemError) {
            return try descriptor("pidfd_open") { reach_pidfd_open(process) }
        } catch {
            // Without a pidfd its end would go unnoticed.
            kill(-process, SIGKILL)
            waitpid(process, nil, 0)
            throw error
        }
    }

    private static func descriptor(_ call: String, _ body: () -> CInt) throws(SystemError) -> CInt {
        let result = body()
        guard result >= 0 else { throw SystemError(call: call, number: -result) }
        return result
    }

    private static func environment(_ run: HookQueue.Run) -> [String] {
        var variables: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            let parts = String(cString: text).split(scalar: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            if !withheld.contains(name), !name.hasUTF8Prefix("REACH_") {
                variables[name] = parts.count > 1 ? String(parts[1]) : ""
            }
            entry += 1
        }
        variables.merge(run.environment) { $1 }
        return variables.map { "\($0)=\($1)" }
    }

    private static func spawn(
        _ path: String, input: CInt, output: CInt, environment: [String]
    ) throws(SystemError) -> pid_t {
        var child = pid_t()
        _ = try descriptor("posix_spawn") {
            CStrings.with(environment) { reach_spawn(path, $0, input, output, &child) }
        }
        DescriptorLimit.restore(in: child)
        return child
    }
}
