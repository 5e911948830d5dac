package import ReachCore
internal import ReachFleet

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
            return try link.ask(about: "stream \(name)", within: limit * 3) {
                ("$JS.API.STREAM.INFO.\(name)", [])
            } _: { reply throws(NATSError) in
                try JetStreamReply.object(reply)
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
        let expectation = expectedLast.map { HeaderField(EventChunk.expectation, String($0)) }
        let headers = headers + (expectation.map { [$0] } ?? [])
        return try JetStreamReply.ack(try link.request(subject, headers: headers, payload, within: limit))
    }

    /// The last message on a subject. A stream that does not exist does not answer: `timedOut`.
    package func last(_ subject: String, in stream: String) throws(NATSError) -> StoredMessage? {
        try link.ask(about: "stream \(stream)", within: limit) {
            (DirectGet.subject(stream: stream, last: subject), [])
        } _: { reply throws(NATSError) in
            try DirectGet.message(reply)
        }
    }
}
