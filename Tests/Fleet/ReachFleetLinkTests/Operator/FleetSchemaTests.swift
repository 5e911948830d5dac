import Glibc
import ReachControl
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachTesting
import Testing

/// The lines of `reach-fleet`, checked by the schema that `reach schema fleet` prints.
@Suite(.enabled(if: SchemaCheck.isAvailable, "\(SchemaCheck.whyNot)"))
struct FleetSchemaTests {
    @Test func `what status, host, events and watch print is as the schema says, and every key of it occurs`() throws {
        let fleet = try TestFleet(hosts: ["till-1", "till-2"])
        let watch = try fleet.start("watch", ["--json"])
        defer { watch.send(SIGKILL) }
        var lines = [try watch.nextLine()]
        var host = try FakeHost("till-1", in: fleet)
        try host.put {
            $0.lease = .seconds(120)
            $0.labels = ["site": "here"]
        }
        try host.renew()
        try host.send(.notReachable, reason: .noCarrier)
        try fleet.run("hold", as: "operator", ["--host", "till-1", "--reason", "stocktaking"])
        for type in ["fleet-change", "fleet-event"] { try read(watch, type, into: &lines) }
        for command in [["status"], ["host", "till-1"], ["events"]] {
            lines += try fleet.run(command[0], Array(command[1...]) + ["--json"]).lines
        }
        try fleet.server.restart()
        try read(watch, "fleet-engine", into: &lines)
        let faults = try fleetFaults(in: lines, hasEveryKey: true)
        // Other tests have lines of these.
        let others = ["Outage", "Extent", "Self"] + Self.typesOfOperators + Self.typesOfNotes
        #expect(faults.filter { fault in !others.contains { fault.contains("Fleet" + $0) } } == [])
    }

    private static let typesOfNotes = [
        "Version", "Line", "Alert", "Quiet", "Note", "Acknowledgement", "Action", "Report", "Availability",
        "LabelAvailability",
        "HostAvailability", "Member.quiet", "Member.retired",
    ]

    @Test func `what retire, label, quiet, acknowledge, audit and report print is as the schema says`() throws {
        let fleet = try TestFleet(hosts: ["till-1", "till-2"], words: { _ in "tills site=berlin-7" })
        for name in ["till-1", "till-2"] {
            var host = try FakeHost(name, in: fleet)
            try host.put { $0.lease = .seconds(120) }
            try host.renew()
            try host.send(.notReachable, reason: .noCarrier)
        }
        var lines: [String] = []
        for words in [
            ["label", "till-1", "floor=1"], ["quiet", "--where", "host=till-1", "--for", "1h", "--why", "works"],
            ["acknowledge", "till-1", "--why", "me", "--for", "1h"], ["retire", "till-2"],
        ] {
            lines += try succeeding(fleet.run(words[0], as: "operator", Array(words.dropFirst()) + ["--json"])).lines
        }
        for words in [
            ["status", "--versions"], ["status", "--lines"], ["status"], ["status", "--retired"], ["quiet"], ["audit"],
            ["report", "--since", "1h"],
        ] { lines += try succeeding(fleet.run(words[0], Array(words.dropFirst()) + ["--json"])).lines }
        #expect(lines.count >= 13)
        let faults = try fleetFaults(in: lines, hasEveryKey: true)
        let missing = faults.filter { $0.hasPrefix("no line ") }
        #expect(faults.count == missing.count, "\(faults)")
        // Its own test has lines of these, and an action without a record has the keys that are missing here.
        let types = Self.typesOfNotes.filter { !["Version", "Line", "Alert"].contains($0) }
        #expect(missing.filter { fault in types.contains { fault.contains(".Fleet" + $0) } } == [])
    }

    private static let typesOfOperators = [
        "Stream", "Difference", "Hosts", "Key", "Configuration", "Finding", "Revision",
    ]

    @Test func `what setup, key, config, doctor, hold and release print is as the schema says, and every key occurs`()
        throws
    {
        let fleet = try TestFleet(isSetUp: false)
        let path = fleet.directory.path
        _ = try JetStream(try fleet.link(as: "admin")).createStream(
            "REACH_EVENTS", Array(#"{"name":"REACH_EVENTS","subjects":["reach.v1.ev.*"],"storage":"file"}"#.utf8))
        func run(_ command: String, _ arguments: String...) throws -> [String] {
            try fleet.run(command, as: "admin", ["--json"] + arguments).lines
        }
        var lines = try run("doctor") + run("setup", "--hosts", path + "/hosts")
        lines += try run("setup", "--update", "--hosts", path + "/hosts")
        for words in [
            ["key", path + "/new.nk"], ["key", "--print-seed", path + "/new.nk"],
            ["config", "--listen", "127.0.0.1:4222", "--hosts", path + "/hosts"],
        ] {
            lines += try TestFleet.program.run(words + ["--json"]).lines
        }
        for command in ["hold", "release"] {
            lines += try fleet.run(command, as: "operator", ["--json", "--host", "till-1"]).lines
        }
        let faults = try fleetFaults(in: lines, hasEveryKey: true)
        let missing = faults.filter { $0.hasPrefix("no line ") }
        #expect(faults.count == missing.count, "\(faults)")
        #expect(missing.filter { fault in Self.typesOfOperators.contains { fault.contains(".Fleet" + $0) } } == [])
    }

    private func read(_ watch: RunningProgram, _ type: String, into lines: inout [String]) throws {
        repeat { lines.append(try watch.nextLine(within: .seconds(30))) } while !lines[lines.count - 1].contains(type)
    }

    @Test func `the words of hosts and agents in the schema are those of the fleet`() throws {
        let schema = String(decoding: fleetSchema, as: UTF8.self)
        for words in [
            HostWord.allCases.map(\.rawValue), FleetWord.allCases.map(\.rawValue),
            Finding.Level.allCases.map(\.rawValue),
            StreamPlan.Difference.Effect.allCases.map(\.rawValue),
        ] {
            #expect(schema.contains(#""examples":["# + words.map { "\"\($0)\"" }.joined(separator: ",") + "]"))
        }
    }
}
