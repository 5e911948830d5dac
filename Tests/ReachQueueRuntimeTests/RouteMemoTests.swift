import ReachCore
import ReachTransfer
import Testing

@testable import ReachQueue
@testable import ReachQueueRuntime

/// When the kernel is asked about the routes of an attempt, and when the last answer holds.
@Suite struct RouteMemoTests {
    private static let address = IPAddress(ipv4: 0xc000_0201)

    private static func situation(
        url: String = "http://192.0.2.1/", condition: String = "any", addresses: [IPAddress] = [address],
        interface: UInt32 = 2, turn: UInt64 = 1
    ) throws -> RouteSituation {
        let order = AttemptOrder(
            id: RequestID(rawValue: 1), number: 1, destination: try Destination(url: url),
            path: QueuePath(interfaceIndex: interface, interface: "r\(interface)", traits: PathTraits()),
            condition: try NetworkCondition(condition), isRevealing: false, isCanary: false)
        let transfer = TransferRequest(url: try TransferURL(url))
        return RouteSituation(order, transfer, addresses, zone: nil, turn: turn)
    }

    /// How often the kernel is asked for attempts in these situations, one after the other.
    private static func askedCount(_ situations: [RouteSituation], isKnown: Bool = true, forgets: Bool = false) -> Int {
        var (memo, count) = (RouteMemo(), 0)
        for situation in situations {
            if memo.choice(in: situation) == nil {
                count += 1
                memo.note(isKnown ? AttemptRouter.Choice() : nil, in: situation)
            }
            if forgets { memo.forget() }
        }
        return count
    }

    @Test func `attempts to one server that begin in one turn ask the kernel once`() throws {
        let first = try Self.situation()
        #expect(Self.askedCount([first, try Self.situation(url: "http://192.0.2.1/other?a=b"), first]) == 1)
    }

    @Test func `the kernel is asked again in another turn, for another server, and by another path`() throws {
        let others = [
            try Self.situation(turn: 2), try Self.situation(url: "http://192.0.2.1:8080/"),
            try Self.situation(url: "https://192.0.2.1/"), try Self.situation(addresses: []),
            try Self.situation(interface: 3), try Self.situation(condition: "wifi"),
        ]
        for other in others { #expect(Self.askedCount([try Self.situation(), other]) == 2) }
    }

    @Test func `the kernel is asked again after a change of the network, and while routes are not known`() throws {
        let first = try Self.situation()
        #expect(Self.askedCount([first, first], forgets: true) == 2)
        #expect(Self.askedCount([first, first], isKnown: false) == 2)
    }
}
