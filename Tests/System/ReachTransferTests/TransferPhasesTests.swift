import ReachCore
import ReachTransfer
import Testing

@Suite struct TransferPhasesTests {
    private static func phases(
        connected: Int64?, sent: Int64? = nil, firstByte: Int64? = nil, resolved: Int64? = 10
    ) -> TransferPhases {
        func time(_ milliseconds: Int64?) -> BootTime? {
            milliseconds.map { BootTime(nanoseconds: $0 * 1_000_000) }
        }
        var phases = TransferPhases(started: BootTime(nanoseconds: 0))
        (phases.resolved, phases.connected) = (time(resolved), time(connected))
        (phases.requestSent, phases.firstByte) = (time(sent), time(firstByte))
        return phases
    }

    @Test func `a lost SYN does not count as the path's round trip`() {
        // SYN is sent again after a second: 1,030 ms to connect, and 20 ms to the first byte.
        #expect(Self.phases(connected: 1040, sent: 1041, firstByte: 1061).roundTrip == .milliseconds(20))
    }

    @Test func `a slow server does not count as the path's round trip`() {
        #expect(Self.phases(connected: 40, sent: 41, firstByte: 5000).roundTrip == .milliseconds(30))
    }

    @Test func `without a response connecting counts, and without a connection nothing`() {
        #expect(Self.phases(connected: 40).roundTrip == .milliseconds(30))
        #expect(Self.phases(connected: 40, resolved: nil).roundTrip == .milliseconds(40))
        #expect(Self.phases(connected: nil).roundTrip == nil)
    }
}
