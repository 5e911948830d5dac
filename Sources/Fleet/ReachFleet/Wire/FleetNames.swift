internal import ReachCore

/// What the fleet's streams, buckets and subjects are called on a NATS server.
///
/// A host's own subjects end in its identity (``hostIsValid(_:)``), so that a server can give it the right to its own
/// and to no other's.
package enum FleetNames {
    /// The stream of what the hosts report.
    package static let events = "REACH_EVENTS"
    /// The stream of connects and disconnects, as the server itself reports them to the system account.
    package static let connections = "REACH_CONN"
    /// The bucket of each host's current state.
    package static let state = "reach_state"
    /// The bucket of the hosts that are here.
    package static let lease = "reach_lease"
    /// The bucket of what the operator wants of the hosts.
    package static let desired = "reach_desired"

    /// The bucket of what operators note: labels, retired hosts, times without alerts, acknowledgements.
    package static let notes = "reach_notes"
    /// The stream of what operators did. The server gives each operator's key a subject of its own.
    package static let audit = "REACH_AUDIT"

    package static func auditSubject(ofKey key: String) -> String { "reach.v1.audit.\(key)" }

    package static func eventSubject(of host: String) -> String { "reach.v1.ev.\(host)" }
    /// The subject of a key in a bucket, as every client of NATS's key-value convention uses it.
    package static func subject(ofKey key: String, in bucket: String) -> String { "$KV.\(bucket).\(key)" }
    /// Where an operator says that a key of ``desired`` has changed. Hosts hear it on the key's own subject: they have
    /// no connection to the bucket, since whoever may make consumers could write where somebody listens.
    package static func announcementSubject(ofKey key: String) -> String { "reach.v1.desired.\(key)" }
    /// Where `doctor` tries to write what it must not; readers skip what arrives there.
    package static let probeSubject = "reach.v1.conn.up.doctor"
    /// The stream behind a bucket.
    package static func stream(of bucket: String) -> String { "KV_\(bucket)" }

    /// Whether a text can be a host's identity: 1 to 64 letters, digits, `-` and `_`, so that it is one token of a
    /// subject.
    package static func hostIsValid(_ host: String) -> Bool {
        (1...64).contains(host.utf8.count)
            && host.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    }
}
