internal import CNats
internal import Glibc
package import ReachCore

/// Where a message is stored, as the subject of its reply says it:
/// `$JS.ACK.STREAM.CONSUMER.DELIVERED.SEQUENCE.NUMBER.TIME.PENDING`, on newer servers with domain and account before
/// the stream, and more after it.
package struct StoredPlace: Hashable, Sendable {
    package let sequence: UInt64
    package let time: Timestamp
    /// Messages that the stream holds after this one for the reader.
    package let pending: UInt64

    package init?(_ reply: String) {
        var reply = reply
        guard let place = reply.withUTF8({ StoredPlace($0) }) else { return nil }
        self = place
    }

    /// Bytes, since texts of it and of its parts take a tenth of a reader's time.
    init?(_ reply: UnsafeBufferPointer<UInt8>) {
        let dots = reply.count { $0 == UInt8(ascii: ".") }
        // The number of the token that is the stream's.
        let stream = dots >= 10 ? 4 : 2
        guard
            let sequence = Self.number(reply, token: stream + 3),
            let time = Self.number(reply, token: stream + 5).flatMap({ Int64(exactly: $0) }),
            let pending = Self.number(reply, token: stream + 6)
        else { return nil }
        (self.sequence, self.pending) = (sequence, pending)
        self.time = Timestamp(nanosecondsSince1970: time)
    }

    private static func number(_ bytes: UnsafeBufferPointer<UInt8>, token wanted: Int) -> UInt64? {
        var (token, position) = (0, 0)
        while token < wanted, position < bytes.count {
            if bytes[position] == UInt8(ascii: ".") { token += 1 }
            position += 1
        }
        let first = position
        var number: UInt64 = 0
        while position < bytes.count, bytes[position] != UInt8(ascii: ".") {
            guard 48...57 ~= bytes[position] else { return nil }
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflow) = product.addingReportingOverflow(UInt64(bytes[position] - 48))
            guard !isTooLarge, !overflow else { return nil }
            number = sum
            position += 1
        }
        return position > first ? number : nil
    }
}

/// What arrives for a reader of a stream.
enum StreamDelivery {
    case stored(StoredMessage, pending: UInt64)
    /// What the server says in place of a message. Of a stored message the headers are its writer's, and a host may
    /// write any; but the server sends its own words without a reply.
    case status(Int, NATSMessage)
    /// An empty message with the header `Status: 503`, which libnats keeps to itself: no one answers the reader, or a
    /// host wrote it.
    case noResponders
    /// Something else.
    case strange

    /// Copies a message; the caller keeps owning it.
    init(_ message: OpaquePointer) {
        guard let reply = natsMsg_GetReply(message) else {
            let copy = NATSMessage(message)
            self = copy.status.map { StreamDelivery.status($0, copy) } ?? .strange
            return
        }
        let length = strlen(reply)
        let place = reply.withMemoryRebound(to: UInt8.self, capacity: length) {
            StoredPlace(UnsafeBufferPointer(start: $0, count: length))
        }
        guard let place else {
            self = .strange
            return
        }
        self = .stored(
            StoredMessage(
                subject: NATSMessage.subject(of: message), sequence: place.sequence, time: place.time,
                headers: NATSMessage.headers(of: message), payload: NATSMessage.payload(of: message)),
            pending: place.pending)
    }
}
