internal import ReachCore
@testable internal import ReachKernel
internal import ReachLoop
internal import ReachTesting
internal import Testing

/// What root causes of many targets cost where there are many routes.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct RootCauseReaderTests {
    @Test func `the routes are read once for all targets that have none`() async throws {
        let namespace = try TestNamespace()
        try namespace.run("ip", "link", "set", "lo", "up")
        let routes = (0..<20_000).map { "route add blackhole 10.\($0 / 250).\($0 % 250).0/24" }
        try namespace.batch(routes.joined(separator: "\n"))
        let times = try await namespace.perform {
            let view = try KernelView()
            try view.refresh()
            let reader = RootCauseReader(view: view, options: ReachabilityEngine.Options())
            let lost = Verdict(.notReachable, reason: .noRoute)
            return try (0..<200).map { number in
                let target = Target.Subject.address(IPAddress(ipv4: 0xc633_6400 + UInt32(number)), zone: nil)
                let began = SystemClock.threadTime
                let cause = try reader.rootCause(
                    of: lost, on: RootCauseReader.Subject(target: target), memory: RootCauseMemory()
                ) { () throws(NetlinkError) in lost }
                #expect(cause != nil)
                return SystemClock.threadTime - began
            }
        }
        let others = times.dropFirst().reduce(.zero, +)
        // Each would take as long as the first.
        #expect(others < times[0] * 40, "\(times[0]), then \(others)")
    }

    @Test func `where no route ends the search, the kernel is not asked for one again before a notice or a refresh`()
        async throws
    {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let counts = try await namespace.perform {
            let view = try KernelView()
            try view.refresh()
            var counts = [try view.throwRoutes(.ipv4).count]
            try ChildProcess.run(["ip", "-n", namespace.name, "route", "add", "throw", "198.51.100.0/24"])
            counts.append(try view.throwRoutes(.ipv4).count)
            let prefix = try #require(IPPrefix(IPAddress(ipv4: 0xc633_6400), length: 24))
            _ = view.apply(.route(Route(destination: prefix, type: .throw), replacesOther: false))
            counts.append(try view.throwRoutes(.ipv4).count)
            try ChildProcess.run(["ip", "-n", namespace.name, "route", "del", "throw", "198.51.100.0/24"])
            counts.append(try view.throwRoutes(.ipv4).count)
            try ChildProcess.run(["ip", "-n", namespace.name, "route", "add", "throw", "198.51.100.0/24"])
            try view.refresh()
            counts.append(try view.throwRoutes(.ipv4).count)
            return counts
        }
        // Nothing, nothing that was noticed, one, none, and one.
        #expect(counts == [0, 0, 1, 0, 1])
    }
}
