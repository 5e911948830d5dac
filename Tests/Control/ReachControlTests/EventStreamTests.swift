import Foundation
import ReachControl
import ReachCore
import Testing

@Suite struct EventStreamTests {
    /// 2026-11-21T03:10:00.123456Z, 26 hours after the machine started.
    private let moment = Instant(
        wall: Timestamp(nanosecondsSince1970: 1_795_230_600_123_456_789),
        boot: BootTime(nanoseconds: 93_600_123_456_789))

    private var wired: ReachabilityState {
        var state = ReachabilityState.reachable(.internet)
        state.epoch = 7
        state.ipv4.metric = 100
        state.ipv4.neighbour = .reachable
        return state
    }

    private var lost: ReachabilityState {
        var state = wired
        state.adopt(Verdict(.notReachable, reason: .noCarrier))
        state.rootCause = RootCause(.noCarrier, interface: "eth0")
        state.since = moment.wall
        state.flaps = 3
        state.isStale = true
        state.isHeld = true
        return state
    }

    private static let times = #""time":"2026-11-21T03:10:00.123456Z","boottime_ns":93600123456789"#
    private static let wiredStatus = """
        {"v":1,"type":"status",\(times),"source":"kernel","target":"internet",\
        "status":"reachable","class":"wired","interface":"eth0","reason":null,\
        "root_cause":null,"root_interface":null,\
        "afnetworking":2,"metered":false,"connectivity":"unknown","portal":null,"validated":false,\
        "since":"2026-11-21T03:01:44.002913Z","connectivity_since":"2026-11-21T03:01:44.002913Z","epoch":7,\
        "stale":false,"held":false,"flaps":0,\
        "ipv4":{"status":"reachable","interface":"eth0","ifindex":2,"class":"wired","carrier_class":null,\
        "lower":[],"gateway":"192.0.2.1","source":"192.0.2.2","table":254,"metric":100,"neighbour":"reachable",\
        "metered":false,"connectivity":"unknown","reason":null},\
        "ipv6":{"status":"not-reachable","reason":"no-route"}}
        """
    private static let lostStatus = """
        {"v":1,"type":"status",\(times),"source":"kernel","target":"internet",\
        "status":"not-reachable","class":null,"interface":null,"reason":"no-carrier",\
        "root_cause":"no-carrier","root_interface":"eth0",\
        "afnetworking":0,"metered":false,"connectivity":"unknown","portal":null,"validated":false,\
        "since":"2026-11-21T03:10:00.123456Z","connectivity_since":"2026-11-21T03:01:44.002913Z","epoch":7,\
        "stale":true,"held":true,"flaps":3,\
        "ipv4":{"status":"not-reachable","reason":"no-carrier"},"ipv6":{"status":"not-reachable","reason":"no-carrier"}}
        """

    @Test func `a status has the documented form`() {
        var json = JSONWriter()
        json.status(wired, source: .kernel, at: moment.wall, moment.boot)
        #expect(String(decoding: json.bytes, as: UTF8.self) == Self.wiredStatus)
    }

    @Test func `a stacked, metered path is written with its lower links`() {
        var state = wired
        state.ipv4.lower = ["eth0", "eno1"]
        state.ipv4.gateway = nil
        state.ipv4.neighbour = nil
        state.linkClass = .wwan
        state.isMetered = true
        state.connectivity = .portal
        state.portal = "http://login.example/"
        state.isValidated = true
        state.ipv4.connectivity = .portal
        var json = JSONWriter()
        json.status(state, source: .daemon, at: moment.wall, moment.boot)
        let text = String(decoding: json.bytes, as: UTF8.self)
        #expect(text.contains(#""lower":["eth0","eno1"],"gateway":null,"#))
        #expect(text.contains(#""neighbour":null,"#))
        #expect(text.contains(#""source":"daemon""#))
        let proved = #""connectivity":"portal","portal":"http://login.example/","validated":true"#
        #expect(text.contains(#""afnetworking":1,"metered":true,"# + proved))
        #expect(text.contains(#""metered":false,"connectivity":"portal","reason":null"#))
    }

    @Test func `a stream begins with a snapshot and continues with differences`() {
        var stream = EventStream(source: .kernel)
        let first = ReachabilityChange(at: moment, cause: .start, aspects: [], previous: nil, state: wired)
        let second = ReachabilityChange(
            at: moment, cause: .carrierLost, aspects: [.status], previous: wired, state: lost)
        #expect(
            String(decoding: stream.change(first), as: UTF8.self) == """
                {"v":1,"type":"snapshot","seq":1,\(Self.times),"initial":true,"cause":"start","changed":[],\
                "previous":null,"status":\(Self.wiredStatus)}

                """)
        #expect(
            String(decoding: stream.change(second), as: UTF8.self) == """
                {"v":1,"type":"change","seq":2,\(Self.times),"initial":false,"cause":"carrier-lost",\
                "changed":["status"],\
                "previous":{"status":"reachable","class":"wired","interface":"eth0","reason":null,\
                "root_cause":null,"root_interface":null},\
                "status":\(Self.lostStatus)}

                """)
    }

    @Test func `lost notices, sleep and lost lines have lines of their own`() {
        var stream = EventStream(source: .kernel)
        let lines = [
            stream.resync(reason: "netlink messages were lost", at: moment),
            stream.wake(slept: .milliseconds(3_600_500), at: moment), stream.dropped(count: 12, at: moment),
        ]
        #expect(
            lines.map { String(decoding: $0, as: UTF8.self) } == [
                #"{"v":1,"type":"resync","seq":1,\#(Self.times),"reason":"netlink messages were lost"}"# + "\n",
                #"{"v":1,"type":"wake","seq":2,\#(Self.times),"slept_ms":3600500}"# + "\n",
                #"{"v":1,"type":"dropped","seq":3,\#(Self.times),"count":12}"# + "\n",
            ])
    }

    @Test func `the snapshot after lost lines is not the initial one`() {
        var stream = EventStream(source: .kernel)
        let line = stream.snapshot(wired, isInitial: false, cause: .poll, at: moment)
        #expect(String(decoding: line, as: UTF8.self).contains(#""type":"snapshot","seq":1,"#))
        #expect(String(decoding: line, as: UTF8.self).contains(#""initial":false,"cause":"poll","changed":[],"#))
    }

    @Test func `each line is one object, numbered without a gap`() throws {
        var stream = EventStream(source: .kernel)
        var bytes: [UInt8] = []
        for number in 0..<30 {
            switch number % 6 {
            case 0: bytes += stream.snapshot(wired, isInitial: false, cause: .poll, at: moment)
            case 1:
                bytes += stream.change(
                    ReachabilityChange(at: moment, cause: .poll, aspects: [.path], previous: lost, state: wired))
            case 2: bytes += stream.resync(reason: "a\nb", at: moment)
            case 3: bytes += stream.wake(slept: .seconds(1), at: moment)
            case 4: bytes += stream.dropped(count: 1, at: moment)
            default: bytes += stream.notice(.linkRemoved(2), at: moment)
            }
        }
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        let objects = try lines.map { try JSONSerialization.jsonObject(with: Data($0)) as? [String: Any] }
        #expect(objects.map { $0?["seq"] as? Int } == Array(1...30))
        #expect(objects.allSatisfy { $0?["v"] as? Int == 1 && $0?["time"] is String })
    }
}
