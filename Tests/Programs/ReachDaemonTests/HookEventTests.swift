import ReachCore
import ReachDaemon
import ReachQueue
import Testing

@Suite struct HookEventTests {
    @Test func `a change is passed as JSON and as variables`() throws {
        let moment = Instant(
            wall: Timestamp(nanosecondsSince1970: 1_795_230_600_000_000_000), boot: BootTime(nanoseconds: 5))
        let before = ReachabilityState(target: .internet, since: moment.wall)
        var state = before
        state.status = .reachable
        state.linkClass = .wwan
        state.interface = "wwan0"
        state.isMetered = true
        state.ipv4.status = .reachable
        (state.ipv4.network, state.ipv4.isTrusted, state.ipv4.meteredReason) = ("office", true, .wwan)
        state.ipv4.quality = LineQuality(.lossy, lossPermille: 52, roundTrip: nil, jitter: nil, packets: 60)
        state.epoch = 7
        let change = ReachabilityChange(
            at: moment, cause: .carrierGained, aspects: [.path, .metered], previous: before, state: state
        ).numbered(3)
        let event = HookEvent(change)
        #expect(event.target == "internet")
        #expect(
            event.environment == [
                "REACH_EVENT": "change", "REACH_TIME": "2026-11-21T03:10:00.000000Z", "REACH_TARGET": "internet",
                "REACH_NAME": "", "REACH_WORKS": "",
                "REACH_STATUS": "reachable", "REACH_PREVIOUS_STATUS": "unknown", "REACH_REASON": "",
                "REACH_ROOT_CAUSE": "", "REACH_ROOT_INTERFACE": "", "REACH_ROOT_TEXT": "",
                "REACH_CLASS": "wwan", "REACH_INTERFACE": "wwan0", "REACH_METERED": "true",
                "REACH_METERED_REASON": "wwan", "REACH_NETWORK": "office", "REACH_TRUSTED": "true",
                "REACH_PREVIOUS_CONNECTIVITY": "unknown", "REACH_CONNECTIVITY": "unknown", "REACH_PORTAL": "",
                "REACH_CONNECTIVITY_REASON": "",
                "REACH_PREVIOUS_QUALITY": "", "REACH_QUALITY": "lossy", "REACH_QUALITY_TEXT": "lossy (5.2 %)",
                "REACH_PORTAL_SESSION": "", "REACH_PREVIOUS_PORTAL_SESSION": "", "REACH_PORTAL_PAGE": "",
                "REACH_PORTAL_SECONDS": "",
                "REACH_CAUSE": "carrier-gained",
                "REACH_CHANGED": "path metered",
                "REACH_EPOCH": "7",
                "REACH_FLAP_MS": "", "REACH_FLAP_TEXT": "",
                "REACH_OUTAGE_SINCE": "", "REACH_OUTAGE_MS": "", "REACH_OUTAGE_TEXT": "",
            ])
        let json = try JSONReader.read(event.json)
        #expect(json["type"] == .string("change"))
        #expect(json["seq"] == .integer(3))
        #expect(json["status"]?["source"] == .string("daemon"))
        #expect(event.json.last == UInt8(ascii: "\n"))
    }

    @Test func `a portal's session is a word, a page and the seconds that are left`() {
        let moment = Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: 1_000_000_000))
        for (isCaptive, isEnding, word) in [(true, false, "captive"), (false, false, "open"), (false, true, "ending")] {
            var (before, state) = (
                ReachabilityState(target: .internet, since: moment.wall),
                ReachabilityState(target: .internet, since: moment.wall)
            )
            before.portalSession = PortalSession(interface: "wlan0", isCaptive: false)
            var session = PortalSession(interface: "wlan0", isCaptive: isCaptive)
            session.userPortalURL = "https://login.example/"
            (session.isEnding, session.end) = (isEnding, moment.boot + .milliseconds(250_900))
            state.portalSession = session
            let event = HookEvent(
                ReachabilityChange(at: moment, cause: .probe, aspects: [.portal], previous: before, state: state))
            #expect(event.environment["REACH_PORTAL_SESSION"] == word)
            #expect(event.environment["REACH_PREVIOUS_PORTAL_SESSION"] == "open")
            #expect(event.environment["REACH_PORTAL_PAGE"] == "https://login.example/")
            #expect(event.environment["REACH_PORTAL_SECONDS"] == "250")
            #expect(event.environment["REACH_CHANGED"] == "portal")
        }
    }

    @Test func `the state at the start is a snapshot without a previous status`() {
        let moment = Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: 0))
        let state = ReachabilityState(target: .internet, since: moment.wall)
        let event = HookEvent(ReachabilityChange(at: moment, cause: .start, aspects: [], previous: nil, state: state))
        #expect(event.environment["REACH_EVENT"] == "snapshot")
        #expect(event.environment["REACH_PREVIOUS_STATUS"] == "")
    }

    @Test func `a request that ended is passed with its number and its reason`() throws {
        let moment = Instant(
            wall: Timestamp(nanosecondsSince1970: 1_795_230_600_000_000_000), boot: BootTime(nanoseconds: 5))
        var dead = QueueEvent(.dead, at: moment, epoch: 1)
        dead.request = RequestID(rawValue: 42)
        dead.owner = 1000
        dead.reason = "http-status"
        dead.status = 404
        dead.attempt = 2
        let event = try #require(HookEvent(dead))
        #expect(event.kind == .requestDead)
        #expect(event.target == "request:42")
        #expect(
            event.environment == [
                "REACH_EVENT": "request-dead", "REACH_TIME": "2026-11-21T03:10:00.000000Z",
                "REACH_TARGET": "request:42", "REACH_REQUEST": "42", "REACH_OWNER": "1000",
                "REACH_REASON": "http-status", "REACH_HTTP_STATUS": "404", "REACH_ATTEMPT": "2", "REACH_INTERFACE": "",
            ])
        let json = try JSONReader.read(event.json)
        #expect(json["type"] == .string("queue"))
        #expect(json["seq"] == nil)
        #expect(event.json.last == UInt8(ascii: "\n"))
    }

    @Test(arguments: [(QueueEvent.Kind.meteredLow, "80"), (.meteredUsed, "100")])
    func `a hook gets how much of a budget is used`(kind: QueueEvent.Kind, percent: String) throws {
        var used = QueueEvent(
            kind, at: Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: 0)), epoch: 1)
        used.owner = 1000
        used.budget = MeteredReport(
            scope: .user(1000), budget: MeteredBudget(bytes: 100, per: .day), used: 90,
            renewed: Timestamp(nanosecondsSince1970: 86_400_000_000_000))
        let event = try #require(HookEvent(used))
        #expect(event.kind == .meteredBudget && event.target == "budget:user:1000")
        #expect(
            event.environment == [
                "REACH_EVENT": "metered-budget", "REACH_TIME": "1970-01-01T00:00:00.000000Z",
                "REACH_TARGET": "budget:user:1000", "REACH_OWNER": "1000", "REACH_BUDGET_PERCENT": percent,
                "REACH_BUDGET_BYTES": "100", "REACH_BUDGET_USED": "90",
                "REACH_BUDGET_RENEWED": "1970-01-02T00:00:00.000000Z",
            ])
        used.kind = .meteredRenewed
        #expect(HookEvent(used) == nil)
    }

    @Test(arguments: QueueEvent.Kind.allCases)
    func `hooks run only for requests that ended`(kind: QueueEvent.Kind) {
        var event = QueueEvent(
            kind, at: Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: 0)), epoch: 1)
        #expect(HookEvent(event) == nil, "an event of the queue as a whole")
        event.request = RequestID(rawValue: 1)
        #expect((HookEvent(event) != nil) == (kind == .done || kind == .dead))
    }
}
