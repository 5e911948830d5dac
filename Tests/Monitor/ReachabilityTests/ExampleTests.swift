internal import Reachability
internal import Testing

/// Checks that one import is enough. This file has no other on purpose.
struct ExampleTests {
    @Test func `a program that imports the library alone can use all values that it returns`() throws {
        let monitor = ReachabilityMonitor(try Target("https://example.org/"))
        monitor.setStatusChangeBlock { status in print(status.displayText) }
        monitor.setChangeBlock { change in print(change.sequenceNumber, change.state.ipv4.interface ?? "none") }
        #expect(monitor.state.linkClass == nil)
        #expect(monitor.status == ReachabilityStatus.unknown)
        #expect(ReachabilityMonitor.shared.target == .internet)
    }
}
