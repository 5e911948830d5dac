internal import ReachCore
@testable internal import ReachKernel
internal import ReachLoop
internal import ReachTesting
internal import Testing

/// How often the observer asks what paths rest on while it reads notices. The path is over the bridge `br0`.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct PathSupportTests {
    private let namespace: TestNamespace

    init() throws {
        namespace = try TestNamespace()
        try namespace.batch("link add br0 type bridge\nlink set br0 up")
    }

    /// Makes changes whose notices are read at once.
    ///
    /// - Returns: The ports of the bridge at each question, and the end of the reading.
    private func questions(during changes: String) async throws -> [String] {
        try await namespace.perform { [namespace] in
            let loop = try EventLoop()
            var log: [String] = []
            let observer = KernelObserver(loop: loop) { event in
                guard case .changed = event else { return }
                log.append("read")
                loop.stop()
            }
            observer.carryingLinks = { [weak observer] in Self.support(in: observer).links }
            observer.pathSupport = { [weak observer] in
                let support = Self.support(in: observer)
                log.append("asked, ports: \(support.links.count - 1)")
                return support
            }
            try observer.start()
            try namespace.batch(changes)
            loop.run()
            return log
        }
    }

    private static func support(in observer: KernelObserver?) -> PathSupport {
        guard let table = observer?.view?.table, let bridge = table.link(named: "br0")?.index else {
            return PathSupport(links: [], sources: [])
        }
        let ports = table.links.values.filter { $0.controller == bridge }.map(\.index)
        return PathSupport(links: Set(ports + [bridge]), sources: [])
    }

    @Test func `many addresses of links that carry no path are one question of a reading`() async throws {
        let containers = (0..<20).map {
            "link add c\($0) type veth peer name d\($0)\naddr add 198.51.100.\($0 + 1)/32 dev c\($0)"
        }
        let log = try await questions(during: containers.joined(separator: "\n"))
        #expect(log == ["asked, ports: 0", "read"])
    }

    @Test func `a port that joins the bridge of a path counts in the same reading`() async throws {
        let log = try await questions(
            during: """
                link add c0 type veth peer name d0
                addr add 198.51.100.1/32 dev c0
                link set c0 master br0
                """)
        #expect(log == ["asked, ports: 0", "asked, ports: 1", "read"])
    }
}
