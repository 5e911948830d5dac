import Foundation
import ReachCore
import ReachLoop
import ReachQueue
import Testing

@testable import ReachControl

@Suite struct InterfaceDefinitionTests {
    /// Checks that types, methods and errors have distinct names, since some parsers keep them in one table.
    @Test(arguments: [(MonitorInterface.definition, 38), (QueueInterface.definition, 36)])
    func `every name in a definition is unique`(definition: String, count: Int) {
        let names = definition.split(separator: "\n").compactMap { line in
            let words = line.split { " (".contains($0) }
            return ["type", "method", "error"].contains(words[0]) ? words[1] : nil
        }
        #expect(names.count == count)
        #expect(Set(names).count == names.count)
    }

    /// The names of a type's fields in a definition.
    private func fields(of type: String, in definition: String = MonitorInterface.definition) -> Set<String> {
        let lines = definition.split(separator: "\n")
        let body = lines.drop { $0 != "type \(type) (" }.dropFirst().prefix { $0 != ")" }
        return Set(body.compactMap { $0.split(separator: ":").first?.trimmingCharacters(in: .whitespaces) })
    }

    @Test func `links and explanations have the keys of their definition`() throws {
        var table = NetworkTable()
        let link = Link(index: 1, name: "lo")
        _ = table.apply(.link(link))
        _ = table.apply(
            .address(InterfaceAddress(interface: 1, address: IPAddress(ipv4: 0x7f00_0001), prefixLength: 8)))
        let (moment, verdict) = (SystemClock.now, Verdict(.unknown, reason: nil))
        var writer = JSONWriter()
        let stack = LinkStack(links: table.links, traits: [:], policy: LinkPolicy())
        var described = LinkReport(link, in: table, stack: stack, internet: verdict)
        (described.network, described.meteredReason) = ("office", .configuration)
        described.wireless = WirelessLink(network: WirelessNetwork(ssid: nil, bssid: nil))
        described.proof = .init(.full, checked: moment.wall, roundTrip: .milliseconds(20))
        described.proof?.reason = .nameNotResolved
        described.proof?.quality = LineQuality(
            .lossy, lossPermille: 52, roundTrip: .milliseconds(31), jitter: .zero, packets: 60)
        described.traffic = .init(received: 1, sent: 2)
        writer.link(described, source: .daemon, at: moment)
        let report = try JSONReader.read(writer.bytes)
        #expect(Set(report.object?.keys ?? [:].keys) == fields(of: "Link"))
        #expect(Set(report["wifi"]?.object?.keys ?? [:].keys) == fields(of: "Wifi"))
        #expect(Set(report["addresses"]?.array?.first?.object?.keys ?? [:].keys) == fields(of: "Address"))
        let step = Explanation.Step(.verdict, .good, "")
        let account = Explanation.Family(path: verdict.ipv4, steps: [step])
        writer = JSONWriter()
        var explained = Explanation(target: .internet, verdict: verdict, ipv4: account, ipv6: account)
        (explained.proof, explained.isHeld) = (
            .init(.limited, since: moment.wall, portal: "http://a.example/", reason: .nameNotResolved), true
        )
        writer.explanation(explained, source: .daemon, at: moment)
        let explanation = try JSONReader.read(writer.bytes)
        #expect(Set(explanation.object?.keys ?? [:].keys) == fields(of: "Explanation"))
        #expect(Set(explanation["ipv4"]?.object?.keys ?? [:].keys) == fields(of: "Account"))
        let steps = explanation["ipv4"]?["steps"]?.array
        #expect(Set(steps?.first?.object?.keys ?? [:].keys) == fields(of: "Step"))
    }

    @Test func `events, statuses and probes have the keys of their definition`() throws {
        let moment = Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: 0))
        var state = ReachabilityState.reachable(.internet)
        state.ipv4.connectivity = .full
        (state.ipv4.network, state.isMetered, state.ipv4.meteredReason) = ("office", true, .wwan)
        state.ipv4.quality = LineQuality(
            .lossy, lossPermille: 52, roundTrip: .milliseconds(31), jitter: .zero, packets: 60)
        (state.measuresQuality, state.connectivityReason) = (true, .nameNotResolved)
        state.ipv4.accessPoint = HardwareAddress("02:00:00:00:00:01")
        state.ipv4.traits.alternativeNames = ["enp3s0"]
        state.portalSession = PortalSession(interface: "eth0", isCaptive: true)
        (state.name, state.heldCause) = ("office", RootCause(.noCarrier, interface: "eth0"))
        let change = ReachabilityChange(at: moment, cause: .name, aspects: [.path], previous: state, state: state)
        let events: [EncodedEvent] = [
            .change(change, source: .daemon), .resync(reason: "", at: moment), .wake(slept: .zero, at: moment),
            .dropped(count: 1, at: moment), .probe(ProbeEvent(.up, at: moment, report: ProbeSample.report)),
        ]
        var keys: Set<String> = []
        for event in events + [.queue(Self.record)] {
            var stream = EventStream(source: .daemon)
            keys.formUnion(try JSONReader.read(stream.line(event)).object?.keys ?? [:].keys)
        }
        #expect(keys == fields(of: "Event"))
        var json = JSONWriter()
        json.probeReport(ProbeSample.report, at: moment, hasBeats: true)
        let report = try JSONReader.read(json.bytes)
        #expect(Set(report.object?.keys ?? [:].keys) == fields(of: "ProbeReport"))
        #expect(Set(report["uptime"]?.object?.keys ?? [:].keys) == fields(of: "ProbeUptime"))
        #expect(Set(report["latency"]?.object?.keys ?? [:].keys) == fields(of: "ProbeLatency"))
        #expect(Set(report["last"]?.object?.keys ?? [:].keys) == fields(of: "ProbeResult"))
        #expect(Set(report["last"]?["burst"]?.object?.keys ?? [:].keys) == fields(of: "ProbeBurst"))
        #expect(Set(ProbePhase.allCases.map { $0.rawValue + "_us" }) == fields(of: "ProbePhases"))
        var stream = EventStream(source: .daemon)
        let event = try JSONReader.read(stream.change(change))
        #expect(Set(event["status"]?.object?.keys ?? [:].keys) == fields(of: "TargetStatus"))
        #expect(Set(event["status"]?["portal_session"]?.object?.keys ?? [:].keys) == fields(of: "PortalSession"))
        #expect(Set(event["previous"]?.object?.keys ?? [:].keys) == fields(of: "Summary"))
        #expect(Set(event["status"]?["quality"]?.object?.keys ?? [:].keys) == fields(of: "Quality"))
        #expect(Set(event["status"]?["ipv4"]?.object?.keys ?? [:].keys) == fields(of: "Path"))
    }

    @Test func `events of the journal have the keys of an event, and those of their definition`() throws {
        let moment = Instant.second(0)
        var keys = fields(of: "Event").subtracting(["seq"])
        for event in [
            JournalEvents.started(at: moment, lastSeen: moment.wall, boot: ""),
            JournalGap(.refused, 1...2).event(at: moment, boot: ""),
        ] {
            let numbered = JournalLine.event(event, log: "", number: 1)
            keys.formUnion(try JSONReader.read(numbered).object?.keys ?? [:].keys)
        }
        #expect(keys == fields(of: "JournalEvent"))
    }

    @Test func `the queue's objects have the keys of their definition`() throws {
        func fields(_ type: String) -> Set<String> { self.fields(of: type, in: QueueInterface.definition) }
        func check(_ type: String, _ body: (inout JSONWriter) -> Void) throws -> JSONValue {
            var writer = JSONWriter()
            body(&writer)
            let json = try JSONReader.read(writer.bytes)
            #expect(Set(json.object?.keys ?? [:].keys) == fields(type), "\(type)")
            return json
        }
        let moment = Instant.second(0)
        let request = try check("Request") { $0.queueItem(.full, at: moment) }
        #expect(Set(request["progress"]?.object?.keys ?? [:].keys) == fields("Progress"))
        _ = try check("QueueStatus") {
            let budget = MeteredReport(
                scope: .all, budget: MeteredBudget(bytes: 1, per: .day), used: 0, renewed: moment.wall)
            $0.queueStatus(QueueStatus(holds: [QueueHold(source: .root, since: moment)], budgets: [budget]), at: moment)
        }
        _ = try check("Receipt") { $0.queueReceipt(QueueReceipt(id: 1, isKept: true), at: moment) }
        let explanation = try check("Explanation") {
            $0.queueExplanation(RequestReport.full.explained, at: moment)
        }
        let reason = explanation["reasons"]?.array?.first
        #expect(Set(reason?.object?.keys ?? [:].keys) == fields("Reason"))
        let answer = try check("Answer") {
            $0.queueAnswer(
                QueueAnswer(
                    id: 1, state: .done, status: 1, headers: [HeaderField("", "")], bodyBytes: 0, offset: 0, bytes: []),
                at: moment)
        }
        #expect(Set(answer["headers"]?.array?.first?.object?.keys ?? [:].keys) == fields("Header"))
    }

    /// An event of the queue with a value for every key.
    private static var record: QueueEvent {
        var record = QueueEvent(.queued, at: .second(0), epoch: 1)
        record.request = RequestID(rawValue: 1)
        record.owner = 1
        record.attempt = 1
        record.reason = ""
        record.status = 1
        record.interface = ""
        record.blockers = .rate
        record.notBefore = Instant.second(0).wall
        record.destination = Destination(stored: "")
        record.condition = .any
        record.count = 1
        record.budget = MeteredReport(
            scope: .all, budget: MeteredBudget(bytes: 1, per: .day), used: 0, renewed: Instant.second(0).wall)
        return record
    }

    @Test func `the queue's events and the parameters of Add have the names of their definition`() throws {
        let progress = AttemptProgress(
            id: RequestID(rawValue: 1), interface: "", began: .second(0),
            bytes: ByteProgress(sent: 0, toSend: 0, received: 0, toReceive: 0))
        var stream = EventStream(source: .daemon)
        let lines = [EncodedEvent.queue(Self.record), .queueProgress(progress, at: .second(0))].map { stream.line($0) }
        let keys = try lines.reduce(into: Set<String>()) {
            $0.formUnion(try JSONReader.read($1).object?.keys ?? [:].keys)
        }
        #expect(keys == fields(of: "Event", in: QueueInterface.definition))
        let definition = QueueInterface.definition
        let add = definition[(definition.range(of: "method Add(\n")?.upperBound ?? definition.endIndex)...]
        let names = add.prefix { $0 != ")" }.split(separator: "\n").compactMap { $0.split(separator: ":").first }
        #expect(
            names.map { $0.trimmingCharacters(in: .whitespaces) }.sorted()
                == RequestSpecification.parameterNames.sorted())
    }
}
