internal import Glibc
package import ReachCore
internal import ReachLoop

/// JetStream's API, by requests that block. JSON goes out as the caller wrote it, so options that libnats does not know
/// reach a server that does.
package struct JetStream: Sendable {
    package let link: NATSLink
    /// The longest wait for a reply.
    package var limit: Duration = .seconds(10)

    package init(_ link: NATSLink) { self.link = link }

    /// Calls a method of the API.
    ///
    /// - Parameter api: Its subject below `$JS.API.`, such as `STREAM.INFO.X`.
    package func call(_ api: String, _ request: [UInt8] = []) throws(NATSError) -> JSONValue {
        try JetStreamReply.object(try link.request("$JS.API.\(api)", request, within: limit))
    }

    /// The first attempt of a question. A cluster answers nothing for some seconds after a server died, and what was asked
    /// meanwhile is lost.
    private static let firstAttempt: Duration = .seconds(2)

    /// Asks for what may be asked again, since it changes nothing the second time.
    ///
    /// Each attempt waits for twice as long as the one before: a busy server with many subjects takes longer than the first wait,
    /// and questions whose answers nobody waits for any more only make it busier.
    ///
    /// - Parameters:
    ///   - patience: How long it asks; at least once.
    package func ask<Answer>(
        within patience: Duration, _ question: (Duration) throws(NATSError) -> Answer
    ) throws(NATSError) -> Answer {
        let end = SystemClock.boot + patience
        var wait = Self.firstAttempt
        while true {
            do throws(NATSError) {
                return try question(min(wait, limit))
            } catch {
                guard error.mayPass, SystemClock.boot < end else { throw error }
                if error.kind == .timedOut { wait = wait * 2 } else { usleep(250_000) }
            }
        }
    }

    /// The account's limits and use.
    package func account() throws(NATSError) -> JSONValue {
        do throws(NATSError) {
            return try call("INFO")
        } catch {
            // Without JetStream nothing listens there.
            guard error.kind == .noResponders else { throw error }
            throw NATSError(.noJetStream, "the server has JetStream off, or off for this account")
        }
    }

    /// A stream's configuration and state; `nil` if there is none.
    package func stream(_ name: String) throws(NATSError) -> JSONValue? {
        do throws(NATSError) {
            return try ask(within: limit * 3) { wait throws(NATSError) in
                try JetStreamReply.object(try link.request("$JS.API.STREAM.INFO.\(name)", [], within: wait))
            }
        } catch {
            guard error.kind == .notFound else { throw error }
            return nil
        }
    }

    package func createStream(_ name: String, _ configuration: [UInt8]) throws(NATSError) -> JSONValue {
        try call("STREAM.CREATE.\(name)", configuration)
    }

    package func updateStream(_ name: String, _ configuration: [UInt8]) throws(NATSError) -> JSONValue {
        try call("STREAM.UPDATE.\(name)", configuration)
    }

    /// Appends a message and waits until the stream has stored it.
    ///
    /// - Parameter expectedLast: The sequence that the subject's last message must have; 0 for none.
    package func append(
        _ subject: String, headers: [HeaderField] = [], _ payload: [UInt8], expectedLast: UInt64? = nil
    ) throws(NATSError) -> JetStreamReply.Ack {
        let expectation = expectedLast.map { HeaderField("Nats-Expected-Last-Subject-Sequence", String($0)) }
        let headers = headers + (expectation.map { [$0] } ?? [])
        return try JetStreamReply.ack(try link.request(subject, headers: headers, payload, within: limit))
    }

    /// The last message on a subject. A stream that does not exist does not answer: `timedOut`.
    package func last(_ subject: String, in stream: String) throws(NATSError) -> StoredMessage? {
        try ask(within: limit) { wait throws(NATSError) in
            try DirectGet.message(
                try link.request(DirectGet.subject(stream: stream, last: subject), [], within: wait))
        }
    }
}
