internal import CNats
internal import ReachCore

/// A subscription with a handler. It ends with the value, or with its connection.
package final class NATSSubscription: Sendable {
    /// libnats' subscription locks itself, so threads may share the pointer.
    private struct Handle: @unchecked Sendable { let pointer: OpaquePointer }

    private let handle: Handle
    private let number: UInt
    /// A subscription must not outlive its connection.
    private let link: NATSLink?

    /// - Parameter keepsLink: `false` for a subscription that the connection owns itself.
    init(
        _ subject: String, on link: NATSLink, keepsLink: Bool = true,
        _ handler: @escaping @Sendable (NATSMessage) -> Void
    ) throws(NATSError) {
        let number = NATSCallbacks.add(.message(handler))
        var made: OpaquePointer?
        let status = natsConnection_Subscribe(
            &made, link.handle.pointer, subject, NATSCallbacks.onMessage, NATSCallbacks.pointer(number))
        guard status == NATS_OK, let made else {
            NATSCallbacks.remove(number)
            throw NATSError(status, in: "subscribe to '\(subject)'", detail: NATSLibrary.lastError)
        }
        handle = Handle(pointer: made)
        self.number = number
        self.link = keepsLink ? link : nil
    }

    deinit {
        NATSCallbacks.remove(number)
        natsSubscription_Unsubscribe(handle.pointer)
        let ended = EndedSubscription(pointer: handle.pointer)
        if let link { link.requests.freeLater(ended) } else { ended.free() }
    }
}

/// A subscription that the server was told to end.
///
/// libnats before 3.6.0 (Debian 12 has 3.4.1) looks for the subscription of a message, lets go of the lock, and then
/// uses it: if it is freed meanwhile, the process crashes (nats.c issue 637). So the memory stays until the reading
/// thread has certainly gone on: until the reply to a later request has come, or the connection has ended, which waits
/// for that thread.
struct EndedSubscription: @unchecked Sendable {
    // libnats' subscription locks itself, so any thread may free it.
    fileprivate let pointer: OpaquePointer

    func free() { natsSubscription_Destroy(pointer) }
}

/// A subscription whose messages its owner waits for.
///
/// libnats' subscription locks itself; one thread reads.
final class NATSQueue {
    private let handle: OpaquePointer
    private let link: NATSLink
    let subject: String

    init(_ subject: String, on link: NATSLink) throws(NATSError) {
        var made: OpaquePointer?
        let status = natsConnection_SubscribeSync(&made, link.handle.pointer, subject)
        guard status == NATS_OK, let made else {
            throw NATSError(status, in: "subscribe to '\(subject)'", detail: NATSLibrary.lastError)
        }
        handle = made
        self.link = link
        self.subject = subject
    }

    deinit {
        natsSubscription_Unsubscribe(handle)
        link.requests.freeLater(EndedSubscription(pointer: handle))
    }

    /// Waits for the next message.
    ///
    /// - Returns: `nil` if none came in time.
    func next(within limit: Duration) throws(NATSError) -> StreamDelivery? {
        var message: OpaquePointer?
        let status = natsSubscription_NextMsg(&message, handle, max(1, limit.nanoseconds / 1_000_000))
        guard status != NATS_TIMEOUT else { return nil }
        guard status != NATS_NO_RESPONDERS else { return .noResponders }
        guard status == NATS_OK, let message else {
            throw NATSError(status, in: "read from '\(subject)'", detail: NATSLibrary.lastError)
        }
        defer { natsMsg_Destroy(message) }
        return StreamDelivery(message)
    }
}

extension NATSLink {
    /// Calls `handler` for each message on the subject, in order, on a thread of libnats that belongs to the
    /// subscription.
    package func subscribe(
        _ subject: String, _ handler: @escaping @Sendable (NATSMessage) -> Void
    ) throws(NATSError) -> NATSSubscription {
        try NATSSubscription(subject, on: self, handler)
    }
}
