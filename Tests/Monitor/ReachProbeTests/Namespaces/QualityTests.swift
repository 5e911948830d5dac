internal import Glibc
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachProbe
internal import ReachTesting
internal import Testing

/// What a line is like, with a real router and a real kernel, where a "minute" has 1.2 s.
@Suite(.enabled(if: SmallInternet.whyNot == nil, "\(SmallInternet.whyNot ?? "")"), .timeLimit(.minutes(2)))
struct QualityTests {
    @Test func `a line that loses a third of its packets is lossy until it loses none, and stays reachable`()
        async throws
    {
        let small = try SmallInternet()
        try small.machine.run("sysctl", "-qw", "net.ipv4.ping_group_range=0 2147483647")
        let validated = try await ValidatingEngine.start(in: small, measuring: .milliseconds(100))
        try await validated.changes.wait(within: .seconds(30)) { $0.state.quality?.word == .good }
        // Only what measures: checks and their names go through.
        try small.goDark("meta l4proto { icmp, ipv6-icmp } numgen random mod 3 0")
        let lossy = try await validated.changes.wait(within: .seconds(30)) { $0.state.quality?.word == .lossy }
        #expect(lossy.aspects == [.quality] && lossy.cause == .probe)
        #expect((100...600).contains(lossy.state.quality?.lossPermille ?? 0))
        #expect(lossy.state.connectivity == .full)
        let quality = try NetworkCondition("quality=good")
        #expect(!quality.holds(in: lossy.state))
        try small.comeBack()
        let good = try await validated.changes.wait(within: .seconds(40)) {
            $0.previous?.quality?.word == .lossy && $0.state.quality?.word == .good
        }
        #expect(quality.holds(in: good.state))
    }

    @Test func `a line that was never measured satisfies no quality, whatever it is like`() async throws {
        let small = try SmallInternet()
        let validated = try await ValidatingEngine.start(in: small)
        let full = try await validated.changes.wait { $0.state.connectivity == .full }
        #expect(full.state.quality == nil && !full.state.measuresQuality)
        #expect(try !NetworkCondition("quality=good").holds(in: full.state))
    }
}
