internal import Glibc
internal import ReachLoop

/// A program of this package that was built together with the tests. A test runs it as a user would, and checks the
/// output.
///
///     let result = try BuiltProgram.reach.run(["status", "--json"], in: namespace.name)
///     #expect(result.status == 1)
package struct BuiltProgram: Sendable {
    /// The result of a program that has ended.
    package struct Result: Hashable, Sendable {
        /// The exit status; 128 plus the signal's number if a signal ended it, as in a shell.
        package let status: CInt
        package let standardOutput: String
        package let standardError: String

        /// The lines of standard output.
        package var lines: [String] { standardOutput.split(separator: "\n").map(String.init) }
    }

    /// The path of the program.
    package let path: String

    package static let reach = BuiltProgram(named: "reach")

    /// Searches the directory of the running test bundle, then the one where a debug build of the current directory
    /// puts programs.
    package init(named name: String) {
        let directories = [ThisProgram.directory, ".build/debug"]
        path = directories.map { $0 + "/" + name }.first { access($0, X_OK) == 0 } ?? name
    }

    /// Runs the program until it ends.
    ///
    /// - Parameters:
    ///   - environment: The differences from this process's environment; `nil` removes a variable.
    ///   - namespace: The name of the network namespace to run it in; `nil` for the test's own.
    ///   - limit: The time after which the program is killed and the call throws.
    package func run(
        _ arguments: [String] = [], environment: [String: String?] = [:], streams: RunningProgram.Streams = .init(),
        in namespace: String? = nil, limit: Duration = .seconds(20)
    ) throws(RunningProgram.Failure) -> Result {
        let program = try start(arguments, environment: environment, streams: streams, in: namespace)
        return try program.finish(within: limit)
    }

    /// Starts the program, to read its lines while it runs.
    package func start(
        _ arguments: [String] = [], environment: [String: String?] = [:], streams: RunningProgram.Streams = .init(),
        in namespace: String? = nil
    ) throws(RunningProgram.Failure) -> RunningProgram {
        let entrance = namespace.map { ["ip", "netns", "exec", $0] } ?? []
        return try RunningProgram(entrance + [path] + arguments, environment: environment, streams: streams)
    }
}
