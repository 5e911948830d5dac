import ReachCore
import ReachQueue
import Testing

/// What is added to a reason by parts of the program that know more than the scheduler.
@Suite struct NamedReasonTests {
    private static let moment = Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: 0))
    private static let cause = RootCause(.noCarrier, interface: "eth0")

    private static func reason(_ blocker: Blocker, lacks condition: String? = nil) throws -> QueueExplanation.Reason {
        var reason = QueueExplanation.Reason(
            blocker: blocker, since: moment, until: nil, text: "It waits.", remedy: "It starts.")
        reason.lacks = try condition.map { try NetworkCondition($0) }
        return reason
    }

    @Test(arguments: [
        ("wired", "Waiting for a cable"), ("wifi", "Waiting for Wi-Fi"), ("wwan", "Waiting for a modem"),
        ("bluetooth", "Waiting for Bluetooth"), ("tunnel", "Waiting for a tunnel"),
        ("other", "Waiting for a link of the class other"), ("unmetered", "There is no network path"),
    ])
    func `a reason names what it waits for, and what broke`(condition: String, beginning: String) throws {
        let named = try Self.reason(.linkClass, lacks: condition).naming {
            $0.description == condition ? Self.cause : nil
        }
        #expect(named.text == "\(beginning): \(Self.cause.sentence).")
        #expect(named.remedy == "It starts.")
    }

    @Test func `where no link of the machine can satisfy the condition, that is the reason`() throws {
        let named = try Self.reason(.linkClass, lacks: "interface=wlan0").naming { _ in RootCause(.noLinks) }
        #expect(named.text == "No link of this machine can satisfy 'interface=wlan0'.")
        #expect(named.remedy == "It starts when there is one that can.")
        let any = try Self.reason(.path, lacks: "any").naming { _ in RootCause(.noLinks) }
        #expect(any.text == "There is no network path: there is no link that could carry it.")
    }

    @Test func `a reason stays where nothing is known, or it waits for no default route`() throws {
        #expect(try Self.reason(.linkClass, lacks: "wifi").naming { _ in nil }.text == "It waits.")
        #expect(try Self.reason(.linkClass).naming { _ in Self.cause }.text == "It waits.")
    }

    @Test func `what is wrong with the name of a network replaces the reason, as a sentence`() throws {
        let problem = "no network is named 'home'"
        let named = try Self.reason(.otherNetwork).naming(networkProblem: problem)
        #expect(named.text == "No network is named 'home'.")
        #expect(named.remedy.contains("the configuration names the network"))
        let asked = try Self.reason(.otherNetwork).naming(networkProblem: "no network is named 'hom': is it 'home'?")
        #expect(asked.text.hasSuffix("'home'?"))
        #expect(try Self.reason(.otherNetwork).naming(networkProblem: nil).text == "It waits.")
        #expect(try Self.reason(.linkClass).naming(networkProblem: problem).text == "It waits.")
    }
}
