import ReachCore
import Testing

@testable import ReachTransfer

/// What the kernel's words about a connection mean.
struct ConnectionSilenceTests {
    private func silence(
        unacknowledged: UInt32 = 1, timeouts: UInt32 = 4, heard: Duration = .seconds(30)
    ) -> ConnectionSilence {
        ConnectionSilence(
            unacknowledged: unacknowledged, timeouts: timeouts, sinceAcknowledgment: heard, sinceRequest: .seconds(3))
    }

    @Test func `a connection is silent where nothing was acknowledged since the request, and it was repeated often`() {
        #expect(silence().verdict(limit: 4) == .silent)
        #expect(silence().verdict(limit: 6) == .unknown)
        #expect(silence(timeouts: 0).verdict(limit: 4) == .unknown)
        #expect(silence(unacknowledged: 0).verdict(limit: 4) == .heard)
        #expect(silence(timeouts: 9, heard: .seconds(1)).verdict(limit: 4) == .heard)
    }
}
