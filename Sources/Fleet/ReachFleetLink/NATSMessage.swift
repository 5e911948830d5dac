internal import CNats
internal import Glibc
package import ReachCore

/// A message that arrived.
package struct NATSMessage: Hashable, Sendable {
    package let subject: String
    package let reply: String?
    package let headers: [HeaderField]
    package let payload: [UInt8]

    /// The first value of a header. NATS compares names exactly.
    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// What the server reports instead of a payload: 100 a heartbeat, 404 no message, 408 the request's time is over,
    /// 409 the consumer ended, 503 no one listens; `nil` for a message like any other.
    package var status: Int? { header("Status").flatMap { Int($0) } }

    /// Whether nothing listens on the subject of the request. Newer servers add the subject. A stored message that is
    /// read may have any headers of its writer, and the server's own: its place in the stream.
    package var isNoResponders: Bool { payload.isEmpty && status == 503 && header("Nats-Sequence") == nil }

    /// Copies a message; the caller keeps owning it.
    init(_ message: OpaquePointer) {
        subject = Self.subject(of: message)
        reply = natsMsg_GetReply(message).map { String(cString: $0) }
        payload = Self.payload(of: message)
        headers = Self.headers(of: message)
    }

    static func subject(of message: OpaquePointer) -> String {
        natsMsg_GetSubject(message).map { String(cString: $0) } ?? ""
    }

    static func payload(of message: OpaquePointer) -> [UInt8] {
        let count = Int(natsMsg_GetDataLength(message))
        return natsMsg_GetData(message).map { Array(UnsafeRawBufferPointer(start: $0, count: count)) } ?? []
    }

    static func headers(of message: OpaquePointer) -> [HeaderField] {
        var names: UnsafeMutablePointer<UnsafePointer<CChar>?>?
        var count: CInt = 0
        guard natsMsgHeader_Keys(message, &names, &count) == NATS_OK, let names else { return [] }
        // The array is the caller's, the texts are the message's.
        defer { free(names) }
        return (0..<Int(count)).flatMap { index in names[index].map { values(of: $0, in: message) } ?? [] }
    }

    /// All values of a header, in their order.
    private static func values(of name: UnsafePointer<CChar>, in message: OpaquePointer) -> [HeaderField] {
        var values: UnsafeMutablePointer<UnsafePointer<CChar>?>?
        var count: CInt = 0
        guard natsMsgHeader_Values(message, name, &values, &count) == NATS_OK, let values else { return [] }
        // As with the names.
        defer { free(values) }
        return (0..<Int(count)).compactMap { index in
            values[index].map { HeaderField(String(cString: name), String(cString: $0)) }
        }
    }
}

extension NATSMessage {
    /// Builds a message to send and hands it to `body`.
    static func withOutgoing<Result>(
        _ subject: String, reply: String?, _ headers: [HeaderField], _ payload: [UInt8],
        _ body: (OpaquePointer) throws(NATSError) -> Result
    ) throws(NATSError) -> Result {
        var made: OpaquePointer?
        let status = payload.withUnsafeBytes { bytes in
            natsMsg_Create(
                &made, subject, reply, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), CInt(bytes.count))
        }
        guard status == NATS_OK, let message = made else { throw NATSError(status, in: "message for '\(subject)'") }
        defer { natsMsg_Destroy(message) }
        for header in headers {
            guard !(header.name + header.value).utf8.contains(where: { $0 == 10 || $0 == 13 || $0 == 0 }) else {
                throw NATSError(.invalid, "header '\(header.name)': it contains the end of a line")
            }
            try NATSError.check("header '\(header.name)'") { natsMsgHeader_Set(message, header.name, header.value) }
        }
        return try body(message)
    }
}
