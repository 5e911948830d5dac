import ReachCore
import ReachTransfer
import Testing

@testable import ReachQueue
@testable import ReachQueueRuntime

/// When the kernel is asked about the routes of an attempt, and when the last answer holds.
@Suite struct RouteMemoTests {
    private static let address = IPAddress(ipv4: 0xc000_0201)

    private struct Attempt {
        let order: AttemptOrder
        var target: RouteTarget
        var addresses = [RouteMemoTests.address]
        var zone: String?
        var moment = RouteMemo.Moment(turn: 1, version: 1, now: BootTime(nanoseconds: 1_000_000_000))

        init(
            url: String = "http://192.0.2.1/", condition: String = "any", interface: UInt32 = 2,
            exposesSecrets: Bool = false
        ) throws {
            order = AttemptOrder(
                id: RequestID(rawValue: 1), number: 1, destination: try Destination(url: url),
                path: QueuePath(interfaceIndex: interface, interface: "r\(interface)", traits: PathTraits()),
                condition: try NetworkCondition(condition), exposesSecrets: exposesSecrets, isCanary: false)
            target = RouteTarget(TransferRequest(url: try TransferURL(url)))
        }

        func with(_ change: (inout Attempt) -> Void) -> Attempt {
            var copy = self
            change(&copy)
            return copy
        }
    }

    /// How often the kernel is asked for these attempts, one after the other.
    private static func askedCount(
        _ attempts: [Attempt], isReported: Bool = true, isKnown: Bool = true, forgets: Bool = false
    ) -> Int {
        var (memo, count) = (RouteMemo(), 0)
        for attempt in attempts {
            let known = memo.choice(
                for: attempt.order, attempt.target, attempt.addresses, zone: attempt.zone, at: attempt.moment)
            if known == nil {
                count += 1
                let situation = RouteSituation(attempt.order, attempt.target, attempt.addresses, zone: attempt.zone)
                memo.note(
                    isKnown ? AttemptRouter.Choice() : nil, in: situation, at: attempt.moment, isReported: isReported)
            }
            if forgets { memo.forget() }
        }
        return count
    }

    @Test func `attempts to one server that begin in one turn ask the kernel once`() throws {
        let first = try Attempt()
        let other = try Attempt(url: "http://192.0.2.1/other?a=b")
        #expect(Self.askedCount([first, other, first], isReported: false) == 1)
    }

    @Test func `where routes are reported, the answer holds in later turns, but only for a tenth of a second`() throws {
        let first = try Attempt()
        let later = first.with {
            $0.moment.turn = 9
            $0.moment.now = $0.moment.now + .milliseconds(99)
        }
        #expect(Self.askedCount([first, later]) == 1)
        #expect(Self.askedCount([first, later.with { $0.moment.now = $0.moment.now + .milliseconds(1) }]) == 2)
    }

    @Test func `where routes are not reported, the kernel is asked again in another turn`() throws {
        let first = try Attempt()
        #expect(Self.askedCount([first, first.with { $0.moment.turn = 2 }], isReported: false) == 2)
    }

    @Test func `the kernel is asked again after a report of a change, even in one turn`() throws {
        let first = try Attempt()
        for isReported in [true, false] {
            let asked = Self.askedCount([first, first.with { $0.moment.version = 2 }], isReported: isReported)
            #expect(asked == 2)
        }
    }

    @Test func `the kernel is asked again for another server, by another path, and through a proxy`() throws {
        let first = try Attempt()
        let others = [
            try Attempt(url: "http://192.0.2.1:8080/"), try Attempt(url: "https://192.0.2.1/"),
            try Attempt(interface: 3), try Attempt(condition: "wifi"), try Attempt(exposesSecrets: true),
            first.with { $0.addresses = [] }, first.with { $0.zone = "r2" },
        ]
        for other in others { #expect(Self.askedCount([first, other]) == 2) }
        var transfer = TransferRequest(url: first.target.url)
        transfer.proxy = .explicit(try TransferURL(proxy: "http://192.0.2.9:3128"))
        var memo = RouteMemo()
        memo.note(
            AttemptRouter.Choice(), in: RouteSituation(first.order, RouteTarget(transfer), first.addresses, zone: nil),
            at: first.moment, isReported: true)
        #expect(
            memo.choice(for: first.order, first.target, first.addresses, zone: nil, at: first.moment) == nil)
    }

    @Test func `the kernel is asked again after a change of the network, and while routes are not known`() throws {
        let first = try Attempt()
        #expect(Self.askedCount([first, first], forgets: true) == 2)
        #expect(Self.askedCount([first, first], isKnown: false) == 2)
    }
}
