/// The kinds of events that the journal can record.
package enum JournalKind: String, Hashable, Sendable, CaseIterable {
    /// States of the Internet and of the configured targets.
    case status
    /// What connectivity checks proved about them.
    case connectivity
    /// The state of a probe.
    case probe
    /// Each attempt of a probe.
    case probeResult = "probe-result"
    /// What becomes of requests.
    case queue
    /// The machine slept.
    case wake

    /// What is recorded without a configuration. Each attempt of a probe would push out an outage of last week within a
    /// day.
    package static let usual: [JournalKind] = [.status, .connectivity, .probe, .queue, .wake]
}

/// What the journal records, and how much of it it keeps. A file without the journal, so that the fuzzer of the
/// configuration can compile it alone.
package struct JournalOptions: Hashable, Sendable {
    package var kinds: Set<JournalKind> = []
    /// The most bytes of all files.
    package var bytes = 16 << 20
    /// The age at which events are deleted.
    package var age: Duration = .seconds(30 * 86_400)
}
