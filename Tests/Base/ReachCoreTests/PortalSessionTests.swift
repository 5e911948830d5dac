import ReachTesting
import Testing

@testable import ReachCore

@Suite struct PortalSessionTests {
    private static let session = {
        var session = PortalSession(interface: "w0", isCaptive: false)
        session.userPortalURL = "https://portal.example/?token=1"
        session.venueInfoURL = "https://venue.example/"
        session.end = Self.at(1000)
        session.bytesRemaining = 5
        session.canExtend = true
        return session
    }()

    private static func at(_ seconds: Int64) -> BootTime { BootTime(nanoseconds: seconds * 1_000_000_000) }

    @Test func `what time and traffic alone change is no other session`() {
        for change in [
            { $0.end = Self.at(1029) }, { $0.end = Self.at(971) }, { $0.bytesRemaining = 4 },
            { $0.userPortalURL = "https://portal.example/?token=2" }, { _ in },
        ] as [(inout PortalSession) -> Void] {
            var other = Self.session
            change(&other)
            #expect(Self.session.isSame(as: other) && other.isSame(as: Self.session))
        }
    }

    @Test func `everything else is another session`() {
        for change in [
            { $0.interface = "w1" }, { $0.isCaptive = true }, { $0.isEnding = true }, { $0.canExtend = false },
            { $0.canExtend = nil }, { $0.bytesRemaining = nil }, { $0.end = nil }, { $0.end = Self.at(1030) },
            { $0.end = Self.at(970) }, { $0.userPortalURL = "https://portal.example/a" }, { $0.userPortalURL = nil },
            { $0.venueInfoURL = "https://other.example/" },
        ] as [(inout PortalSession) -> Void] {
            var other = Self.session
            change(&other)
            #expect(!Self.session.isSame(as: other) && !other.isSame(as: Self.session))
        }
    }

    @Test func `a sentence says whether something passes, and for how long`() {
        var session = Self.session
        #expect(
            session.text(at: Self.at(940)) == "The network's portal says that it is open for another 1 min 0 s.",
            "\(session.text(at: Self.at(940)))")
        #expect(session.secondsRemaining(at: Self.at(940)) == 60 && session.secondsRemaining(at: Self.at(2000)) == 0)
        session.end = nil
        #expect(session.text(at: Self.at(0)) == "The network's portal says that it is open.")
        #expect(session.secondsRemaining(at: Self.at(0)) == nil)
        session.isCaptive = true
        let closed = "The network's portal says that it lets nothing pass until its conditions are met."
        #expect(session.text(at: Self.at(0)) == closed + " Its page is https://portal.example/?token=1.")
        session.userPortalURL = nil
        #expect(session.text(at: Self.at(0)) == closed)
    }
}
