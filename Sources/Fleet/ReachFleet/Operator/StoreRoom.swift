package import ReachCore

/// How much a server's store holds, and how much of it the streams of a fleet may fill.
///
/// A store that is full refuses states and leases of every host, so what events may fill has to be less than all of it.
package struct StoreRoom: Hashable, Sendable {
    /// The most bytes that the store holds; `nil` if the server does not say.
    package let bytes: Int64?
    /// The most bytes of the streams that have a limit, by their names.
    private let limits: [String: Int64]

    /// - Parameter streams: The configurations of the streams, as the server returns them.
    package init(bytes: Int64?, streams: [String: JSONValue]) {
        self.bytes = bytes
        limits = streams.compactMapValues { $0["max_bytes"]?.integer.flatMap { $0 > 0 ? $0 : nil } }
    }

    /// The most bytes of events; `nil` without a limit.
    package var events: Int64? { limits[FleetNames.events] }

    /// The most bytes of all streams that have a limit.
    var all: Int64 { limits.values.reduce(0) { $0.addingReportingOverflow($1).partialValue } }

    /// Whether the size seems to be the server's own choice: where its configuration names none, it uses three quarters
    /// of what is free on the disk, at each start again. A person writes a whole number of megabytes.
    var isServersChoice: Bool { bytes.map { $0 % 1_000_000 != 0 && $0 % (1 << 20) != 0 } ?? false }

    /// What `setup` says about it.
    package var summary: String {
        let size = bytes.map { ByteCount.describe($0) } ?? "the server does not say how much it holds"
        guard let events else { return "\(size); events have no limit" }
        return "\(size); events may fill \(ByteCount.describe(events))"
    }
}

extension FleetDoctor {
    /// What a server of this room will do when events have come for long enough.
    package static func store(_ room: StoreRoom) -> [Finding] {
        let refusal = "once its store is full, the server refuses states and leases of every host"
        let naming = "`--store-size` of `reach-fleet config`, which is `max_file_store`"
        guard let bytes = room.bytes else {
            guard room.events == nil else { return [] }
            return [
                Finding(
                    .warning, "store-unlimited",
                    "events have no limit, since the server does not say how much its store holds: \(refusal)",
                    remedy: "`reach-fleet setup --update --event-bytes BYTES` sets one; or start the server with what "
                        + "`reach-fleet config` prints, and run `reach-fleet setup --update`")
            ]
        }
        var findings: [Finding] = []
        if room.all > bytes / 100 * 95 {
            findings.append(
                Finding(
                    .wrong, "store-small",
                    "the streams may fill \(ByteCount.describe(room.all)), and the server's store holds "
                        + "\(ByteCount.describe(bytes)): \(refusal)",
                    remedy: "give it more (\(naming)) and restart the server, or give the streams less: "
                        + "`reach-fleet setup --update`"))
        }
        if room.isServersChoice {
            findings.append(
                Finding(
                    .warning, "store-size",
                    "the server's configuration seems to name no size of its store: it takes three quarters of what is "
                        + "free on its disk at each start, now \(ByteCount.describe(bytes)), and a stream that no longer fits "
                        + "is not restored",
                    remedy: "name one that the disk has: \(naming); then restart the server"))
        }
        return findings
    }
}
