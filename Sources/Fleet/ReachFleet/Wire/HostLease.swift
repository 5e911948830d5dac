package import ReachCore

/// That a host is here: the value of its key in the bucket ``FleetNames/lease``. It ends by itself after three times
/// the time in which the host renews it.
package struct HostLease: Hashable, Sendable {
    /// The most bytes of a value.
    package static let sizeLimit = 1 << 10
    /// A host that missed this many renewals is silent.
    package static let patience = 3
    /// What a reader takes for the lease of a host that has not reported a state: the agents' own default over metered
    /// paths.
    package static let unreported: Duration = .seconds(600)

    /// A hash of the host's boot identifier.
    package var boot: String
    /// The number of the latest event that the engine has.
    package var n: UInt64
    /// Since when the host is connected, by its own clock.
    package var since: Timestamp
    /// The number of events that wait on the host.
    package var behind: UInt64
    /// The server that stored it, by the name that it has until it ends; `nil` from earlier agents.
    package var server: String?
    /// The time in which the host renews it; `nil` from earlier agents.
    package var period: Duration?

    package init(
        boot: String, n: UInt64, since: Timestamp, behind: UInt64, server: String? = nil, period: Duration? = nil
    ) {
        self.boot = boot
        self.n = n
        self.since = since
        self.behind = behind
        self.server = server
        self.period = period
    }

    package init(_ bytes: [UInt8]) throws(WireError) {
        let reader = try WireReader(bytes, limit: Self.sizeLimit)
        guard let since = try reader.time("since") else { throw reader.fault("since") }
        self.init(
            boot: try reader.text("boot", limit: 64) ?? "", n: try reader.number("n") ?? 0, since: since,
            behind: try reader.number("behind") ?? 0, server: try reader.text("server", limit: 128),
            period: try reader.number("lease_s", Int32.self).map { .seconds($0) })
    }

    package var bytes: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("v", 1)
            json.field("boot", boot)
            json.field("n", Int64(clamping: n))
            json.field("since", since)
            json.field("behind", Int64(clamping: behind))
            if let server { json.field("server", server) }
            if let period { json.field("lease_s", period.components.seconds) }
        }
        return json.bytes
    }
}
