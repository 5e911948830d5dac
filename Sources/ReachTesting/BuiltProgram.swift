internal import Glibc

/// A program of this package as it was built beside the tests: run it as a person would, and see what comes out.
///
///     let result = try BuiltProgram.reach.run(["status", "--json"], in: namespace.name)
///     #expect(result.status == 1)
package struct BuiltProgram: Sendable {
    /// What came of a program that has ended.
    package struct Result: Hashable, Sendable {
        /// The exit status; 128 and more where a signal ended it, as the shell tells it.
        package let status: CInt
        package let standardOutput: String
        package let standardError: String

        /// The lines of standard output.
        package var lines: [String] { standardOutput.split(separator: "\n").map(String.init) }
    }

    /// Where the program is.
    package let path: String

    package static let reach = BuiltProgram(named: "reach")

    /// Looks beside the running test bundle, then where a debug build of the current directory puts programs.
    package init(named name: String) {
        let places = [Self.directoryOfThisProgram, ".build/debug"]
        path = places.map { $0 + "/" + name }.first { access($0, X_OK) == 0 } ?? name
    }

    /// Runs it to its end.
    ///
    /// - Parameters:
    ///   - environment: What differs from this process's environment; `nil` takes a variable out.
    ///   - namespace: The network namespace to run it in, by its name.
    ///   - limit: It is killed when it takes longer, and the call throws.
    package func run(
        _ arguments: [String] = [], environment: [String: String?] = [:], streams: RunningProgram.Streams = .init(),
        in namespace: String? = nil, limit: Duration = .seconds(20)
    ) throws(RunningProgram.Failure) -> Result {
        let program = try start(arguments, environment: environment, streams: streams, in: namespace)
        return try program.finish(within: limit)
    }

    /// Starts it, to read its lines as they come.
    package func start(
        _ arguments: [String] = [], environment: [String: String?] = [:], streams: RunningProgram.Streams = .init(),
        in namespace: String? = nil
    ) throws(RunningProgram.Failure) -> RunningProgram {
        let entrance = namespace.map { ["ip", "netns", "exec", $0] } ?? []
        return try RunningProgram(entrance + [path] + arguments, environment: environment, streams: streams)
    }

    private static var directoryOfThisProgram: String {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &bytes, bytes.count)
        let path = String(decoding: bytes.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }
}
