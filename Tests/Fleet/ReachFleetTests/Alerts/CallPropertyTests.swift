import Glibc
import ReachCore
import ReachFleet
import Testing

/// What somebody is called about against what outages and report say.
@Suite struct CallPropertyTests {
    /// `REACH_FLEET_SEEDS=10000` for a long run.
    private static let seeds = getenv("REACH_FLEET_SEEDS").flatMap { UInt64(String(cString: $0)) } ?? 20

    private static func expectNone(_ faults: (CalledFleet) throws -> [String]) throws {
        var all: [String] = []
        var calls = 0
        for seed in 0..<seeds {
            let fleet = try CalledFleet(seed: seed)
            calls += fleet.calls.count
            all += try faults(fleet).map { "seed \(seed), \($0)" }
        }
        #expect(all.prefix(3) == [], "\(all.count) in \(seeds)")
        #expect(calls > 0)
    }

    @Test func `every call is an outage with the same begin and end, at the call and afterwards`() throws {
        try Self.expectNone { fleet in
            let reading = try fleet.reading(at: CalledFleet.length - 1)
            return fleet.faults
                + fleet.calls.indices.compactMap { index in
                    let message = fleet.calls[index]
                    guard message.event == .up else { return nil }
                    let call = fleet.calls[..<index].last { $0.alert == message.alert && $0.event == .down }
                    return Self.fault(message, reading) ?? call.flatMap { Self.fault($0, message, reading) }
                }
        }
    }

    /// What is wrong about the message that something is over.
    private static func fault(_ message: AlertMessage, _ reading: CalledFleet.Reading) -> String? {
        guard let over = message.over else { return "\(message.alert) has no end" }
        // Of a time in which the server was away nobody knows.
        guard !message.hosts.contains(where: { isUnknown($0, message.since, reading) }) else { return nil }
        let absences = message.hosts.flatMap { reading.absences(of: $0) }
        guard absences.contains(where: { $0.end == over }) else {
            return "\(message.alert) is over at \(over), and the report has \(absences.compactMap(\.end))"
        }
        if let shared = message.shared {
            let same = reading.outages.contains { outage in
                outage.extent.trait.name == shared.by && outage.extent.trait.value == shared.value
                    && outage.first == message.since
            }
            return same ? nil : "\(message.alert) since \(message.since), outages \(reading.outages.map(\.first))"
        }
        guard absences.contains(where: { $0.start == message.since }) else {
            return "\(message.alert) since \(message.since), and the report has \(absences.compactMap(\.start))"
        }
        return nil
    }

    /// Whether the call had named a begin that is none, by more than the last words of the hosts allow.
    private static func fault(
        _ call: AlertMessage, _ message: AlertMessage, _ reading: CalledFleet.Reading
    ) -> String? {
        let leases = reading.roster.hosts.filter { call.hosts.contains($0.id) }.compactMap(\.report?.lease)
        let isRight =
            call.since <= message.since && message.since <= call.since + (leases.max() ?? .zero)
            || message.hosts.contains { isUnknown($0, call.since, reading) }
        return isRight ? nil : "\(call.alert) since \(call.since) at the call, and \(message.since) at the end"
    }

    private static func isUnknown(_ host: String, _ time: Timestamp, _ reading: CalledFleet.Reading) -> Bool {
        guard let index = reading.roster.hosts.firstIndex(where: { $0.id == host }) else { return true }
        return reading.pasts[index].intervals.contains { interval in
            interval.word == .unknown && (interval.start ?? at(-10_000)) <= time + .seconds(60)
                && interval.end.map { $0 >= time } ?? true
        }
    }

    @Test func `every absence that was noticed and lasted for long enough called somebody`() throws {
        try Self.expectNone { fleet in
            let reading = try fleet.reading(at: CalledFleet.length - 1)
            return reading.roster.hosts.flatMap { host -> [String] in
                let lease = host.report?.lease ?? .zero
                // Until it is noticed without a word of the server, and then the wait.
                let long = lease * HostLease.patience + RosterHost.leaseGrace + fleet.options.wait + .seconds(2)
                return reading.absences(of: host.id).filter { absence in
                    guard let start = absence.start, start > at(10), let end = absence.end else { return false }
                    return start.duration(to: end) > long
                        && !fleet.calls.contains { call in
                            call.event != .up && call.hosts.contains(host.id) && call.since <= end
                                && call.since + (absence.vagueness + .seconds(1)) >= start
                        }
                }.map { "nobody was called about \(host.id) from \($0.start ?? at(0)) to \($0.end ?? at(0))" }
            }
        }
    }
}
