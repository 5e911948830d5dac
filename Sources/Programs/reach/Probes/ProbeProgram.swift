internal import CReachLinux
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachRecords

/// Sends with `reachd --probe` and `reachd --diagnose`. This program does not link libcurl, which would slow down the
/// start of every command.
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
            (status, output) = try ChildOutput.of([program] + arguments)
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

    /// The path of reachd: next to this program, as it is built; in the sibling directory sbin, as it is installed; or
    /// in the system's directories.
    private static var path: String? {
        let directory = ThisProgram.directory
        let places = [
            directory + "/reachd", directory + "/../sbin/reachd", "/usr/local/sbin/reachd", "/usr/sbin/reachd",
        ]
        return places.first { access($0, X_OK) == 0 }
    }
}
