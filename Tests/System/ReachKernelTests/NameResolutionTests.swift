internal import ReachCore
internal import ReachLoop
internal import ReachTesting
internal import Testing

@testable internal import ReachKernel

@Suite struct NameResolutionTests {
    @Test func `the name of a target that is no longer watched is not looked up`() async throws {
        let gate = ThreadGate()
        defer { gate.open() }
        let asked = EventLog<String>()
        let resolver = SystemResolver { name in
            asked.append(name)
            gate.wait()
            return .noAddress
        }
        let names = NameResolution(on: try EventLoop(), resolver)
        let targets = try (1...6).map { number in
            WatchedTarget(
                target: try Target("name\(number).example"), condition: nil, owner: 1000, holdDown: HoldDown(),
                at: SystemClock.now)
        }
        targets.forEach(names.resolve)
        // One user's names have four threads.
        try await asked.wait(for: 4)
        names.cancel(for: targets[4])
        gate.open()
        #expect(try await asked.wait(for: 5).last == "name6.example")
    }
}
