internal import ReachTesting
internal import Testing

@Suite struct BuiltProgramTests {
    @Test func `a program's status and output are captured`() throws {
        let result = try BuiltProgram.reach.run(["--version"])
        #expect(result.status == 0)
        #expect(result.standardOutput.hasPrefix("reach "))
        #expect(result.standardError.isEmpty)
    }

    @Test func `standard error is captured separately`() throws {
        let result = try BuiltProgram.reach.run(["--no-such-option"])
        #expect(result.status == 2)
        #expect(result.standardOutput.isEmpty)
        #expect(result.standardError.contains("--no-such-option"))
    }

    @Test func `standard output can be closed, or full`() throws {
        let closed = try BuiltProgram.reach.run(["status"], streams: .init(input: .closed, output: .closed))
        let full = try BuiltProgram.reach.run(["status"], streams: .init(output: .file("/dev/full")))
        #expect(closed.status == 74)
        #expect(full.status == 74)
    }

    @Test func `lines are read as they are printed, and a signal ends the program`() throws {
        let watch = try BuiltProgram.reach.start(["watch"])
        #expect(try watch.nextLine().contains("\"type\":\"snapshot\""))
        watch.send(15)
        #expect(try watch.finish().status == 0)
    }

    @Test func `a program that does not end in time is killed and reported`() throws {
        let watch = try BuiltProgram.reach.start(["watch"])
        _ = try watch.nextLine()
        #expect(throws: RunningProgram.Failure.self) { try watch.finish(within: .milliseconds(50)) }
    }
}
