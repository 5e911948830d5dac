internal import Glibc
internal import ReachCore
internal import ReachKernel
internal import ReachTesting
internal import Synchronization
internal import Testing

/// Tables that change during every dump, as on a host of containers.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(2)))
struct ChurnTests {
    @Test func `what stays is read while links come and go during every dump`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        // Enough for dumps of several datagrams.
        let lasting = (0..<300).map {
            "link add s\($0) type veth peer name p\($0)\naddr add 203.0.113.\($0 % 200)/32 dev s\($0)"
        }
        try namespace.batch(lasting.joined(separator: "\n"))
        let isOver = Atomic(false)
        let cycle = (0..<20).map { number in
            """
            link add c\(number) type veth peer name d\(number)
            addr add 198.51.100.\(number + 1)/32 dev c\(number)
            link del c\(number)
            """
        }
        async let churn: Int = {
            var cycles = 0
            while !isOver.load(ordering: .relaxed) {
                try namespace.batch(cycle.joined(separator: "\n"))
                cycles += 1
            }
            return cycles
        }()
        defer { isOver.store(true, ordering: .relaxed) }
        let incomplete = try await namespace.perform {
            let queries = try KernelQueries()
            var incomplete: [String] = []
            for round in 0..<30 {
                let names = try queries.links().map(\.name).filter { $0.hasPrefix("s") }
                let addresses = try queries.addresses().filter { $0.address.description.hasPrefix("203.0.113.") }
                if Set(names).count != 300 || names.count != 300 || addresses.count != 300 {
                    incomplete.append("\(round): \(names.count) links, \(addresses.count) addresses")
                }
            }
            return incomplete
        }
        isOver.store(true, ordering: .relaxed)
        #expect(incomplete == [])
        let cycles = try await churn
        #expect(cycles > 0)
    }
}
