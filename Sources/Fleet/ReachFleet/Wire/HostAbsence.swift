package import ReachCore

/// What a host says at its return: since when it was not with the server. It is a line of type `absence`.
package struct HostAbsence: Hashable, Sendable {
    /// When the server had the host's last word, by the server's clock; `nil` if the host could not read that.
    package var from: Timestamp?
    /// How long the host was away by its own clock; `nil` if its agent has started since.
    package var away: Duration?
    /// Whether a server was there that the host could have reached: the one that had its last word has run since.
    package var isKnown: Bool
    /// Whether the host had said goodbye.
    package var hadLeft: Bool
    /// Whether the machine has started since.
    package var hasRestarted: Bool
    /// The time in which the host renewed its lease. It may have gone by so much later than ``from``.
    package var lease: Duration

    package init(
        from: Timestamp? = nil, away: Duration? = nil, isKnown: Bool, hadLeft: Bool = false, hasRestarted: Bool = false,
        lease: Duration
    ) {
        (self.from, self.away, self.isKnown) = (from, away, isKnown)
        (self.hadLeft, self.hasRestarted, self.lease) = (hadLeft, hasRestarted, lease)
    }

    /// The last event that the engine had before: by it the host knows its own log again, as by an event itself.
    package var after: Event?

    package struct Event: Hashable, Sendable {
        package let n: UInt64
        package let moment: Instant

        package init(n: UInt64, moment: Instant) { (self.n, self.moment) = (n, moment) }
    }

    /// A shorter time without a connection counts as reconnecting.
    package static let least: Duration = .seconds(30)

    /// Whether a host that was not heard of for so long was away: it was gone for longer than reconnecting takes.
    ///
    /// - Parameter lease: How much later than its last word it may have gone: a lease, unless more is known.
    package static func counts(_ age: Duration, lease: Duration) -> Bool { age > longestReconnection(lease: lease) }

    /// How long after its last word a host may come back as if it had not been away.
    static func longestReconnection(lease: Duration) -> Duration { lease + least }

    /// The server's last word of the host before it was back at `end`; `nil` if that is not known.
    func start(until end: Timestamp) -> Timestamp? {
        let own = away.map { end + (.zero - $0) }
        return [from, own].compactMap(\.self).max()
    }

    init(_ reader: WireReader) throws(WireError) {
        self.init(
            from: try reader.time("from"), away: try reader.number("away_ms", Int64.self).map { .milliseconds($0) },
            isKnown: try reader.flag("known"), hadLeft: try reader.flag("left"),
            hasRestarted: try reader.flag("boot_changed"),
            lease: .seconds(try reader.number("lease_s", Int32.self) ?? 0))
        if let event = try reader.object("after"), let n: UInt64 = try event.number("n"), n > 0 {
            after = Event(n: n, moment: try event.instant())
        }
    }

    /// The line. Its number is that of the last event before it, which it does not take.
    package func line(log: String, after n: UInt64, at moment: Instant) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("v", 1)
            json.field("type", "absence")
            json.field("time", moment.wall)
            json.field("boottime_ns", moment.boot.nanoseconds)
            json.field("log", log)
            json.field("n", Int64(clamping: n))
            json.field("from", from?.description)
            json.field("away_ms", away.map { $0.nanoseconds / 1_000_000 })
            json.field("known", isKnown)
            json.field("left", hadLeft)
            json.field("boot_changed", hasRestarted)
            json.field("lease_s", lease.components.seconds)
            guard let after else { return }
            json.field(
                "after",
                object: {
                    $0.field("n", Int64(clamping: after.n))
                    $0.field("time", after.moment.wall)
                    $0.field("boottime_ns", after.moment.boot.nanoseconds)
                })
        }
        return json.bytes
    }
}
