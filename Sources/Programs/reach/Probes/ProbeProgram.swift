internal import CReachLinux
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop

/// Sends with `reachd --probe` and `reachd --diagnose`. This program does not link libcurl, which would slow down the start of
/// every command.
enum ProbeProgram {
    static func run(_ order: ProbeOrder) throws(CommandError) -> ProbeAnswer {
        var arguments = ["--probe", order.target]
        if let interface = order.interface { arguments += ["--interface", interface] }
        if let timeout = order.timeout {
            arguments += ["--timeout", "\(max(1, timeout.nanoseconds / 1_000_000))ms"]
        }
        let missing = "no daemon answers, and there is no reachd to make the attempt"
        let json = try start(arguments, missing).json
        guard let answer = try? ProbeAnswer(reading: json) else {
            throw CommandError(status: .cannotObserve, message: "reachd --probe printed no result")
        }
        return answer
    }

    /// Tests the whole way to a target.
    ///
    /// - Returns: The diagnosis, and its line of JSON as it was printed.
    static func diagnose(_ target: String) throws(CommandError) -> (diagnosis: Diagnosis, line: [UInt8]) {
        let (json, line) = try start(["--diagnose", target], "there is no reachd to make the tests")
        guard let diagnosis = try? Diagnosis(reading: json) else {
            throw CommandError(status: .cannotObserve, message: "reachd --diagnose printed no result")
        }
        return (diagnosis, line)
    }

    /// What a configuration says of links and networks.
    static func policy(file: String) throws(CommandError) -> ObservationPolicy {
        let json = try start(
            ["--policy", "--config", file], "\(file) says which links are metered, and there is no reachd to read it"
        ).json
        guard let policy = ObservationPolicy(reading: json) else {
            throw CommandError(status: .cannotObserve, message: "reachd --policy printed no result")
        }
        return policy
    }

    /// - Parameter missing: The error if there is no reachd.
    private static func start(
        _ arguments: [String], _ missing: String
    ) throws(CommandError) -> (json: JSONValue, line: [UInt8]) {
        guard let program = path else { throw CommandError(status: .cannotObserve, message: missing) }
        let status: CInt
        let output: [UInt8]
        do throws(SystemError) {
            (status, output) = try run([program] + arguments)
        } catch {
            throw CommandError(status: .cannotObserve, message: "\(program): \(error)")
        }
        guard status <= 3 else { throw CommandError(status: .cannotObserve) }
        // It has printed the error on standard error.
        if status == ExitStatus.usage.rawValue { throw CommandError(status: .usage) }
        guard let json = try? JSONReader.read(output) else {
            throw CommandError(status: .cannotObserve, message: "reachd \(arguments[0]) printed no result")
        }
        return (json, output)
    }

    private static func run(_ arguments: [String]) throws(SystemError) -> (status: CInt, output: [UInt8]) {
        var ends: [CInt] = [0, 0]
        _ = try SystemError.check("pipe") { pipe(&ends) }
        let reader = FileDescriptor(owning: ends[0])
        let writer = FileDescriptor(owning: ends[1])
        let child = try spawn(arguments, output: writer.rawValue, not: reader.rawValue)
        _ = consume writer
        var output: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(reader.rawValue, &piece, piece.count), count > 0 || (count < 0 && errno == EINTR) {
            output += piece.prefix(max(0, count))
        }
        var word: CInt = 0
        while waitpid(child, &word, 0) == -1, errno == EINTR {}
        // The same as in the shell.
        return (word & 0x7f == 0 ? (word >> 8) & 0xff : 128 + (word & 0x7f), output)
    }

    private static func spawn(
        _ arguments: [String], output: CInt, not reader: CInt
    ) throws(SystemError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_addclose(&actions, reader)
        if output != STDOUT_FILENO { posix_spawn_file_actions_addclose(&actions, output) }
        var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { pointers.forEach { free($0) } }
        var child = pid_t()
        let number = posix_spawn(&child, arguments[0], &actions, nil, &pointers, environ)
        guard number == 0 else { throw SystemError(call: "posix_spawn", number: number) }
        return child
    }

    /// The path of reachd: next to this program, as it is built; in the sibling directory sbin, as it is installed; or in the
    /// system's directories.
    private static var path: String? {
        let directory = ThisProgram.directory
        let places = [
            directory + "/reachd", directory + "/../sbin/reachd", "/usr/local/sbin/reachd", "/usr/sbin/reachd",
        ]
        return places.first { access($0, X_OK) == 0 }
    }
}
