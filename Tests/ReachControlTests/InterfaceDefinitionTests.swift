import Foundation
import ReachControl
import ReachCore
import ReachLoop
import Testing

@Suite struct InterfaceDefinitionTests {
    @Test func `the program has the definition that is in the package`() throws {
        let path = "Sources/ReachControl/Interfaces/io.reach.Monitor.varlink"
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = try String(contentsOf: root.appending(path: path), encoding: .utf8)
        #expect(file == MonitorInterface.definition)
    }

    /// Some readers keep types, methods and errors in one table.
    @Test func `no name stands for two things`() {
        let names = MonitorInterface.definition.split(separator: "\n").compactMap { line in
            let words = line.split { " (".contains($0) }
            return ["type", "method", "error"].contains(words[0]) ? words[1] : nil
        }
        #expect(names.count == 29)
        #expect(Set(names).count == names.count)
    }

    /// The names of a type's fields, as the definition has them.
    private func fields(of type: String) -> Set<String> {
        let lines = MonitorInterface.definition.split(separator: "\n")
        let body = lines.drop { $0 != "type \(type) (" }.dropFirst().prefix { $0 != ")" }
        return Set(body.compactMap { $0.split(separator: ":").first?.trimmingCharacters(in: .whitespaces) })
    }

    @Test func `links and explanations are defined as they are written`() throws {
        var table = NetworkTable()
        let link = Link(index: 1, name: "lo")
        _ = table.apply(.link(link))
        _ = table.apply(
            .address(InterfaceAddress(interface: 1, address: IPAddress(ipv4: 0x7f00_0001), prefixLength: 8)))
        let (moment, verdict) = (SystemClock.now, Verdict(.unknown, reason: nil))
        var writer = JSONWriter()
        let stack = LinkStack(links: table.links, traits: [:], policy: LinkPolicy())
        writer.link(LinkReport(link, in: table, stack: stack, internet: verdict), source: .daemon, at: moment)
        let report = try JSONReader.read(writer.bytes)
        #expect(Set(report.object?.keys ?? [:].keys) == fields(of: "Link"))
        #expect(Set(report["addresses"]?.array?.first?.object?.keys ?? [:].keys) == fields(of: "Address"))
        let step = Explanation.Step(.verdict, .good, "")
        let account = Explanation.Family(path: verdict.ipv4, steps: [step])
        writer = JSONWriter()
        writer.explanation(
            Explanation(target: .internet, verdict: verdict, ipv4: account, ipv6: account), source: .daemon, at: moment)
        let explanation = try JSONReader.read(writer.bytes)
        #expect(Set(explanation.object?.keys ?? [:].keys) == fields(of: "Explanation"))
        #expect(Set(explanation["ipv4"]?.object?.keys ?? [:].keys) == fields(of: "Account"))
        let steps = explanation["ipv4"]?["steps"]?.array
        #expect(Set(steps?.first?.object?.keys ?? [:].keys) == fields(of: "Step"))
    }

    @Test func `every key that is written is defined, and every defined one is written`() throws {
        let moment = Moment(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: 0))
        let state = ReachabilityState.reachable(.internet)
        let change = ReachabilityChange(at: moment, cause: .name, aspects: [.path], previous: state, state: state)
        let events: [EncodedEvent] = [
            .change(change, source: .daemon), .resync(reason: "", at: moment), .wake(slept: .zero, at: moment),
            .dropped(count: 1, at: moment), .probe(ProbeEvent(.up, at: moment, report: ProbeJSONTests.report)),
        ]
        var keys: Set<String> = []
        for event in events {
            var stream = EventStream(source: .daemon)
            keys.formUnion(try JSONReader.read(stream.line(event)).object?.keys ?? [:].keys)
        }
        #expect(keys == fields(of: "Event"))
        var json = JSONWriter()
        json.probeReport(ProbeJSONTests.report, at: moment, hasBeats: true)
        let report = try JSONReader.read(json.bytes)
        #expect(Set(report.object?.keys ?? [:].keys) == fields(of: "ProbeReport"))
        #expect(Set(report["uptime"]?.object?.keys ?? [:].keys) == fields(of: "ProbeUptime"))
        #expect(Set(report["latency"]?.object?.keys ?? [:].keys) == fields(of: "ProbeLatency"))
        #expect(Set(report["last"]?.object?.keys ?? [:].keys) == fields(of: "ProbeResult"))
        #expect(Set(ProbePhase.allCases.map { $0.rawValue + "_us" }) == fields(of: "ProbePhases"))
        var stream = EventStream(source: .daemon)
        let event = try JSONReader.read(stream.change(change))
        #expect(Set(event["status"]?.object?.keys ?? [:].keys) == fields(of: "TargetStatus"))
        #expect(Set(event["previous"]?.object?.keys ?? [:].keys) == fields(of: "Summary"))
        #expect(Set(event["status"]?["ipv4"]?.object?.keys ?? [:].keys) == fields(of: "Path"))
    }
}
