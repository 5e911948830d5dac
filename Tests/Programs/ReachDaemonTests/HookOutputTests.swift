import Testing

@testable import ReachDaemon

@Suite struct HookOutputTests {
    private var output = HookOutput()

    @Test mutating func `complete lines are returned, however the bytes arrive`() {
        #expect(output.append("one\ntw".utf8) == ["one"])
        #expect(output.append("o\n\n\nthree".utf8) == ["two"])
        #expect(output.end() == ["three"])
        #expect(output.end() == [])
    }

    @Test mutating func `an endless line is cut, and so is endless output`() {
        let lines = output.append([UInt8](repeating: 120, count: 100_000))
        #expect(lines.dropLast().allSatisfy { $0.utf8.count <= HookOutput.lineLimit })
        #expect(lines.dropLast().map(\.utf8.count).reduce(0, +) == HookOutput.limit)
        #expect(lines.last == "(further output omitted)")
        #expect(output.append("more\n".utf8) == [])
        #expect(output.end() == [])
    }
}
