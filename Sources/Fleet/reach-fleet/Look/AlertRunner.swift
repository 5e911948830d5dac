internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachFleet
internal import ReachLoop
internal import ReachTerminal
internal import Synchronization

/// Gives each message to a program, one after the other, on a thread of its own: a program that hangs stops no watch.
final class AlertRunner: Sendable {
    /// A program that takes longer is ended.
    private static let limit: Duration = .seconds(60)
    /// The most messages that wait. More come when the program hangs and half of the fleet is lost: then later ones go.
    private static let most = 200

    private let program: String
    private let thread = SerialThread(named: "reach-alerts")
    private let waiting = Mutex(0)

    init(_ program: String) { self.program = program }

    func run(_ message: AlertMessage, _ sentence: String, _ json: [UInt8]) {
        let isAccepted = waiting.withLock { waiting in
            guard waiting < Self.most else { return false }
            waiting += 1
            return true
        }
        guard isAccepted else { return note("\(Self.most) messages wait for it; one is not given to it") }
        let variables = [
            "REACH_EVENT=fleet-alert", "REACH_ALERT=\(DisplayText.sanitized(message.alert))",
            "REACH_ALERT_EVENT=\(message.event.rawValue)", "REACH_SENTENCE=\(DisplayText.sanitized(sentence))",
            "REACH_TIME=\(SystemClock.now.wall)",
        ]
        thread.run { [self] in
            defer { waiting.withLock { $0 -= 1 } }
            do throws(SystemError) {
                let status = try start(variables, json + [0x0a])
                if status != 0 { note("it ended with \(status)") }
            } catch {
                note(error.description)
            }
        }
    }

    /// - Returns: Its exit status as the shell has it.
    private func start(_ variables: [String], _ json: [UInt8]) throws(SystemError) -> CInt {
        let input = FileDescriptor(
            owning: try Self.descriptor("memfd_create") { reach_memory_file(json, json.count) })
        var child = pid_t()
        var environment = (Self.inherited + variables).map { strdup($0) } + [nil]
        defer { environment.forEach { free($0) } }
        _ = try Self.descriptor("posix_spawn") {
            reach_spawn(program, &environment, input.rawValue, STDERR_FILENO, &child)
        }
        let end = SystemClock.boot + Self.limit
        var status: CInt = 0
        while waitpid(child, &status, WNOHANG) == 0 {
            guard SystemClock.boot < end else {
                kill(-child, SIGKILL)
                waitpid(child, nil, 0)
                note("it took longer than \(DurationText.describe(Self.limit)) and was ended")
                return 0
            }
            usleep(20_000)
        }
        return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f)
    }

    private static func descriptor(_ call: String, _ body: () -> CInt) throws(SystemError) -> CInt {
        let result = body()
        guard result >= 0 else { throw SystemError(call: call, number: -result) }
        return result
    }

    /// This program's variables, without those that its own service manager meant for it.
    private static var inherited: [String] {
        var variables: [String] = []
        var entry = environ
        while let text = entry.pointee {
            let variable = String(cString: text)
            if !["REACH_", "NOTIFY_SOCKET=", "LISTEN_", "WATCHDOG_"].contains(where: { variable.hasUTF8Prefix($0) }) {
                variables.append(variable)
            }
            entry += 1
        }
        return variables
    }

    private func note(_ what: String) {
        StandardError.write("reach-fleet: \(DisplayText.sanitized("\(program): \(what)"))\n")
    }
}
