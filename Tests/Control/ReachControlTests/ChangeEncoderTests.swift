import ReachCore
import ReachTesting
import Testing

@testable import ReachControl

@Suite struct ChangeEncoderTests {
    private static let names = [
        "internet", "192.0.2.1", "192.0.2.0/24", "fe80::1%eth0", "interface:wlan\"0", "interface:a\\b",
        "server.example",
        String(repeating: "long.", count: 40) + "example",
    ]

    private func targets() throws -> [Target] { try Self.names.map { try Target($0) } }

    private func path(_ random: inout SeededGenerator) -> NetworkPath {
        var path = NetworkPath(status: random.pick(ReachabilityStatus.allCases))
        if random.oneIn(3) { path.reason = random.pick([.noRoute, .noCarrier, .notAsked]) }
        guard !random.oneIn(4) else { return path }
        path.interfaceIndex = Int32.random(in: 1...100, using: &random)
        path.interface = random.pick(["eth0", "wlan\"0", "tun0"])
        path.linkClass = random.pick(LinkClass.allCases)
        path.gateway = random.pick([nil, IPAddress("192.0.2.1"), IPAddress("2001:db8::1")])
        path.table = random.pick([nil, 254, 100])
        path.metric = random.pick([nil, 0, 600])
        path.isMetered = random.oneIn(2)
        path.network = random.pick([nil, "office", "caf\u{e9} \"1\""])
        path.lower = random.pick([[], ["eth1"], ["eth1", "eth2"]])
        return path
    }

    private func state(of target: Target, _ random: inout SeededGenerator) -> ReachabilityState {
        let time = Timestamp(nanosecondsSince1970: Int64.random(in: 0...2_000_000_000_000_000_000, using: &random))
        var state = ReachabilityState(target: target, since: time)
        state.adopt(Verdict(ipv4: path(&random), ipv6: path(&random)))
        state.epoch = UInt64.random(in: 1...1000, using: &random)
        state.flaps = Int.random(in: 0...9, using: &random)
        state.isStale = random.oneIn(3)
        state.isHeld = random.oneIn(3)
        state.connectivity = random.pick([.unknown, .none, .limited, .portal, .full])
        state.portal = random.pick([nil, "http://192.0.2.1/\"login\""])
        if random.oneIn(2) { state.rootCause = RootCause(.noCarrier, interface: random.pick([nil, "eth0"])) }
        return state
    }

    @Test func `a change that is spliced equals the whole encoding, for any state and any target`() throws {
        var random = SeededGenerator(seed: 16)
        var spliced = 0
        for _ in 0..<400 {
            let encoder = ChangeEncoder(source: .daemon)
            let (before, after) = (state(of: .internet, &random), state(of: .internet, &random))
            let moment = Instant(
                wall: after.since, boot: BootTime(nanoseconds: Int64.random(in: 0...1 << 60, using: &random)))
            let aspects = ReachabilityChange.Aspect.allCases.filter { _ in random.oneIn(2) }
            let cause = random.pick(Cause.allCases)
            var template: ObjectIdentifier?
            var quoted: QuotedTarget?
            for target in try targets() {
                var (previous, state) = (before, after)
                // Another target with storage of its own is encoded whole, and must not mislead the next.
                if random.oneIn(5) { state.flaps += 1 }
                (previous.target, state.target) = (target, target)
                let event = TargetEvent.change(
                    ReachabilityChange(at: moment, cause: cause, aspects: aspects, previous: previous, state: state))
                let encoded = encoder.encode(event, of: &quoted)
                if template == ObjectIdentifier(encoded.template) { spliced += 1 }
                template = ObjectIdentifier(encoded.template)
                let whole = event.encoded(source: .daemon)
                var (one, other): ([UInt8], [UInt8]) = ([], [])
                encoded.append(to: &one, numbered: 12_345)
                whole.append(to: &other, numbered: 12_345)
                #expect(one == other)
                #expect(encoded.unnumbered == whole.unnumbered && encoded.count == whole.count)
                let json = try JSONReader.read(one)
                #expect(json["status"]?["target"] == .string(target.description) && json["seq"] == .integer(12_345))
            }
        }
        #expect(spliced > 1000, "most are spliced")
    }

    @Test func `changes that differ in anything else are encoded each`() {
        let target = Target.internet
        let state = ReachabilityState.reachable(target)
        let encoder = ChangeEncoder(source: .daemon)
        let times = [1, 2, 2, 2].map { Instant(wall: state.since, boot: BootTime(nanoseconds: $0)) }
        let causes: [Cause] = [.linkDown, .linkDown, .routeAdded, .routeAdded]
        var quoted: QuotedTarget?
        // Kept alive, so that two templates are not at one address.
        let events = zip(times, causes).map { moment, cause in
            encoder.encode(
                .change(
                    ReachabilityChange(at: moment, cause: cause, aspects: [.path], previous: state, state: state)),
                of: &quoted)
        }
        let isShared = zip(events, events.dropFirst()).map { $0.template === $1.template }
        #expect(isShared == [false, false, true])
    }

    @Test func `changes of one target share the bytes of its name`() {
        let target = Target.internet
        let encoder = ChangeEncoder(source: .daemon)
        var quoted: QuotedTarget?
        let names = (1...3 as ClosedRange<Int64>).map { number in
            let moment = Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: number))
            let state = ReachabilityState.reachable(target)
            let change = ReachabilityChange(
                at: moment, cause: .linkDown, aspects: [.path], previous: state, state: state)
            return encoder.encode(.change(change), of: &quoted).target
        }
        let places = names.map { $0.withUnsafeBufferPointer { $0.baseAddress } }
        #expect(places[0] != nil && places.allSatisfy { $0 == places[0] })
    }
}
