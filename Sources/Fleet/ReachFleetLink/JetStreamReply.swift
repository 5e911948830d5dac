package import ReachCore

/// What JetStream replies: an object of JSON, which may hold an error.
package enum JetStreamReply {
    /// An append that the stream has stored.
    package struct Ack: Hashable, Sendable {
        package let stream: String
        package let sequence: UInt64
        /// The stream had a message of the same `Nats-Msg-Id` within its window.
        package let isDuplicate: Bool
    }

    /// Reads the reply to a publication.
    package static func ack(_ message: NATSMessage) throws(NATSError) -> Ack {
        let reply = try object(message)
        guard let stream = reply["stream"]?.string, let sequence = reply["seq"]?.integer, sequence >= 0 else {
            throw NATSError(.failed, "a reply of JetStream without a sequence")
        }
        return Ack(stream: stream, sequence: UInt64(sequence), isDuplicate: reply["duplicate"]?.bool ?? false)
    }

    /// Reads the reply to a request of the API.
    package static func object(_ message: NATSMessage) throws(NATSError) -> JSONValue {
        let reply: JSONValue
        do throws(JSONError) {
            reply = try JSONReader.read(message.payload, .asFoundation)
        } catch {
            throw NATSError(.failed, "a reply of JetStream is not JSON: \(error)")
        }
        if let fault = reply["error"] { throw error(fault) }
        return reply
    }

    /// The kinds of JetStream's error numbers (`server/errors.json` of nats-server) that callers tell apart.
    private static func error(_ fault: JSONValue) -> NATSError {
        let words = fault["description"]?.string ?? "JetStream refused, without a reason"
        let kind: NATSError.Kind =
            switch fault["err_code"]?.integer {
            case 10071: .wrongLastSequence(lastSequence(words))
            case 10054: .tooLarge
            case 10077, 10023, 10047: .full
            case 10059, 10014, 10037: .notFound
            case 10058, 10148: .exists
            case 10039, 10076: .noJetStream
            case 10008, 10009: .unavailable
            default: fault["code"]?.integer == 503 ? .unavailable : .failed
            }
        return NATSError(kind, "JetStream: \(words)")
    }

    /// The number at the end of "wrong last sequence: 5".
    private static func lastSequence(_ words: String) -> UInt64 {
        words.split(scalar: " ").last.flatMap { UInt64($0) } ?? 0
    }
}

/// A message that a stream has stored.
package struct StoredMessage: Hashable, Sendable {
    package let subject: String
    package let sequence: UInt64
    /// When the server stored it, by its clock.
    package let time: Timestamp
    package let headers: [HeaderField]
    package let payload: [UInt8]

    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    package init(
        subject: String, sequence: UInt64, time: Timestamp, headers: [HeaderField] = [], payload: [UInt8]
    ) {
        self.subject = subject
        self.sequence = sequence
        self.time = time
        self.headers = headers
        self.payload = payload
    }
}

/// Reads one stored message without a consumer, which a host may do for its own subjects.
package enum DirectGet {
    /// Where to ask for a subject's last message; the request's payload is empty.
    package static func subject(stream: String, last subject: String) -> String {
        "$JS.API.DIRECT.GET.\(stream).\(subject)"
    }

    /// What the server itself says about a stored message.
    private static let own: Set = ["Nats-Subject", "Nats-Sequence", "Nats-Time-Stamp", "Nats-Stream"]

    /// Reads the reply.
    ///
    /// - Returns: `nil` if the stream has no such message.
    package static func message(_ reply: NATSMessage) throws(NATSError) -> StoredMessage? {
        // A stored message's writer may have given it this header, too.
        if let status = reply.status, reply.header("Nats-Sequence") == nil {
            if status == 404 { return nil }
            throw NATSError(.failed, "direct get: status \(status) \(reply.header("Description") ?? "")")
        }
        // The server adds its own headers to those of the stored message, which its writer chose.
        guard own.allSatisfy({ name in reply.headers.count { $0.name == name } <= 1 }) else {
            throw NATSError(.failed, "direct get: the stored message has headers that only the server may write")
        }
        guard let subject = reply.header("Nats-Subject"), let number = reply.header("Nats-Sequence"),
            let sequence = UInt64(number), let time = reply.header("Nats-Time-Stamp").flatMap({ Timestamp($0) })
        else { throw NATSError(.failed, "direct get: a reply without subject, sequence and time") }
        return StoredMessage(
            subject: subject, sequence: sequence, time: time, headers: reply.headers.filter { !own.contains($0.name) },
            payload: reply.payload)
    }
}
