internal import ReachTesting
internal import Testing

struct EventLogTests {
    @Test func `waiting ends when the value comes from any thread`() async throws {
        let log = EventLog<Int>()
        Task.detached { (1...3).forEach(log.append) }
        #expect(try await log.wait(for: 3) == [1, 2, 3])
        #expect(try await log.wait(forOneThat: { $0 == 2 }) == 2)
    }

    @Test func `a timeout throws the values that came instead`() async {
        let log = EventLog<Int>()
        log.append(7)
        let timeout = await #expect(throws: EventLog<Int>.Timeout.self) {
            try await log.wait(for: 2, within: .milliseconds(1))
        }
        #expect(timeout?.values == [7])
    }
}
