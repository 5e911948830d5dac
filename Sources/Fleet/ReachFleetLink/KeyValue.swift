package import ReachCore
internal import ReachFleet

/// What a bucket holds for a key, by NATS's key-value convention.
package struct KeyValueEntry: Hashable, Sendable {
    package let key: String
    /// `nil` if the key was deleted, or ended with its time.
    package let value: [UInt8]?
    /// The place of the entry in the bucket's stream.
    package let revision: UInt64
    package let time: Timestamp
    /// Whether the server itself ended the key because its time was over (`Nats-Marker-Reason: MaxAge`).
    package let isExpired: Bool

    package init(key: String, value: [UInt8]?, revision: UInt64, time: Timestamp, isExpired: Bool = false) {
        self.key = key
        self.value = value
        self.revision = revision
        self.time = time
        self.isExpired = isExpired
    }

    /// Reads a message of a bucket's stream.
    package init?(_ message: StoredMessage, bucket: String) {
        self.init(message, prefix: FleetNames.subject(ofKey: "", in: bucket))
    }

    /// - Parameter prefix: What stands before the key in a subject of the bucket.
    fileprivate init?(_ message: StoredMessage, prefix: String) {
        guard message.subject.hasUTF8Prefix(prefix) else { return nil }
        let operation = message.header("KV-Operation")
        let reason = message.header("Nats-Marker-Reason")
        self.init(
            // Bytes: finding characters takes a reader longer than all else here.
            key: String(Substring(message.subject.utf8.dropFirst(prefix.utf8.count))),
            value: operation == "DEL" || operation == "PURGE" || reason != nil ? nil : message.payload,
            revision: message.sequence, time: message.time, isExpired: reason == "MaxAge")
    }
}

extension JetStream {
    /// Reads what a bucket holds now: the last entry of each key, deleted ones included.
    ///
    /// - Parameter start: `sequence` to read only what was written from that revision on.
    package func entries(
        of bucket: String, filter: String? = nil, from start: StreamStart = .lastOfEachSubject,
        _ body: (KeyValueEntry) -> Void
    ) throws(NATSError) {
        // Servers want a filter for the last of each.
        let prefix = FleetNames.subject(ofKey: "", in: bucket)
        let filter = filter ?? (start == .lastOfEachSubject ? ">" : nil)
        try read(
            FleetNames.stream(of: bucket), filter: filter.map { FleetNames.subject(ofKey: $0, in: bucket) }, from: start
        ) { message throws(NATSError) in
            if let entry = KeyValueEntry(message, prefix: prefix) { body(entry) }
        }
    }

    /// Reads one key.
    package func entry(_ key: String, in bucket: String) throws(NATSError) -> KeyValueEntry? {
        try last(FleetNames.subject(ofKey: key, in: bucket), in: FleetNames.stream(of: bucket))
            .flatMap { KeyValueEntry($0, bucket: bucket) }
    }

    /// Writes a key.
    ///
    /// - Parameter revision: The revision that the key must have; 0 for none, `nil` for any.
    /// - Returns: The new revision.
    @discardableResult
    package func put(
        _ key: String, in bucket: String, _ value: [UInt8], revision: UInt64? = nil
    ) throws(NATSError) -> UInt64 {
        try append(FleetNames.subject(ofKey: key, in: bucket), value, expectedLast: revision).sequence
    }

    /// Deletes a key; readers see that it was deleted.
    package func delete(_ key: String, in bucket: String) throws(NATSError) {
        _ = try append(
            FleetNames.subject(ofKey: key, in: bucket), headers: [HeaderField("KV-Operation", "DEL")], [])
    }
}
