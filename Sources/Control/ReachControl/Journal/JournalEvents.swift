package import ReachCore

/// Encodes what the journal records: the objects of the event streams without their number in the stream, and with the
/// boot of the machine from which their boot times count.
package enum JournalEvents {
    package static func encode(_ event: EncodedEvent, boot: String) -> [UInt8] {
        var bytes = event.unnumbered
        bytes.removeLast()
        var json = JSONWriter()
        json.object { $0.field("boot", boot) }
        bytes.append(UInt8(ascii: ","))
        return bytes + json.bytes.dropFirst()
    }

    static func encode(
        _ type: String, at moment: Instant, boot: String, _ body: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        encode(EncodedEvent(type, at: moment, body), boot: boot)
    }

    /// The daemon began to run. Without a record of its end, `lastSeen` is the last event of the run before.
    package static func started(at moment: Instant, lastSeen: Timestamp?, boot: String) -> [UInt8] {
        encode("started", at: moment, boot: boot) { json in
            if let lastSeen { json.field("last_seen", lastSeen) }
        }
    }

    package static func stopped(at moment: Instant, boot: String) -> [UInt8] {
        encode("stopped", at: moment, boot: boot) { _ in }
    }
}
