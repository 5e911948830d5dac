import Testing

@testable import ReachDaemon

@Suite struct HookOutputTests {
    private var output = HookOutput()

    @Test mutating func `lines are told whole, however they come`() {
        #expect(output.take("one\ntw".utf8) == ["one"])
        #expect(output.take("o\n\n\nthree".utf8) == ["two"])
        #expect(output.end() == ["three"])
        #expect(output.end() == [])
    }

    @Test mutating func `a line without an end is cut, and so is output without an end`() {
        let lines = output.take([UInt8](repeating: 120, count: 100_000))
        #expect(lines.dropLast().allSatisfy { $0.utf8.count <= HookOutput.lineLimit })
        #expect(lines.dropLast().map(\.utf8.count).reduce(0, +) == HookOutput.limit)
        #expect(lines.last == "(its further output is left out)")
        #expect(output.take("more\n".utf8) == [])
        #expect(output.end() == [])
    }
}
