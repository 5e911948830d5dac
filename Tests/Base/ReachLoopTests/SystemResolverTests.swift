import ReachCore
import ReachLoop
import ReachTesting
import Testing

@Suite struct SystemResolverTests {
    /// Names that begin with "silent" are answered when the gate opens.
    private static func resolver(_ gate: ThreadGate) -> SystemResolver {
        SystemResolver { name in
            if name.hasPrefix("silent") { gate.wait() }
            return .noAddress
        }
    }

    @Test func `one owner's silent names leave threads for the names of others`() async throws {
        let gate = ThreadGate()
        defer { gate.open() }
        let resolver = Self.resolver(gate)
        let log = EventLog<String>()
        for number in 0..<20 { resolver.resolve("silent\(number)", for: 1) { _ in log.append("A") } }
        #expect(resolver.isBusy(for: 1) && !resolver.isBusy(for: 2) && !resolver.isBusy(for: nil))
        for _ in 0..<3 { resolver.resolve("answered", for: 2) { _ in log.append("B") } }
        #expect(try await log.wait(for: 3) == ["B", "B", "B"])
        gate.open()
        #expect(try await log.wait(for: 23).filter { $0 == "A" }.count == 20)
    }

    @Test func `names without an owner may use all threads, and a cancelled name is never looked up`() async throws {
        let gate = ThreadGate()
        defer { gate.open() }
        let resolver = Self.resolver(gate)
        let log = EventLog<String>()
        for number in 0..<8 { resolver.resolve("silent\(number)") { _ in log.append("own") } }
        #expect(resolver.isBusy(for: nil) && resolver.isBusy(for: 1))
        let waiting = resolver.resolve("answered", for: 1) { answer in
            log.append(answer == .notAsked ? "cancelled" : "answered")
        }
        resolver.cancel(waiting)
        #expect(try await log.wait(for: 1) == ["cancelled"])
        gate.open()
        #expect(try await log.wait(for: 9).filter { $0 == "own" }.count == 8)
    }
}
