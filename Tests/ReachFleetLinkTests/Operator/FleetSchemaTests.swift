import Glibc
import ReachControl
import ReachCore
import ReachFleet
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
        #expect(faults.filter { !$0.contains("Outage") && !$0.contains("Extent") && !$0.contains("Self") } == [])
    }

    private func read(_ watch: RunningProgram, _ type: String, into lines: inout [String]) throws {
        repeat { lines.append(try watch.nextLine(within: .seconds(30))) } while !lines[lines.count - 1].contains(type)
    }

    @Test func `the words of hosts and agents in the schema are those of the fleet`() throws {
        let schema = String(decoding: fleetSchema, as: UTF8.self)
        for words in [HostWord.allCases.map(\.rawValue), FleetWord.allCases.map(\.rawValue)] {
            #expect(schema.contains(#""examples":["# + words.map { "\"\($0)\"" }.joined(separator: ",") + "]"))
        }
    }
}

private let fleetSchema: [UInt8] = {
    var json = JSONWriter()
    LineSchema().write(.fleet, to: &json)
    return json.bytes
}()

/// What is wrong with lines, by the schema.
func fleetFaults(in lines: [String], hasEveryKey: Bool = false) throws -> [String] {
    guard SchemaCheck.isAvailable else { return [] }
    return try SchemaCheck.faults(
        in: lines, by: String(decoding: fleetSchema, as: UTF8.self), hasEveryKey: hasEveryKey)
}
