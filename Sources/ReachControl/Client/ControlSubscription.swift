package import ReachCore
package import ReachLoop

/// Watches a target, or the request queue, through the daemon, on an event loop's thread, until the connection ends.
///
/// It does not connect again by itself, as ``DaemonWatch`` does.
package final class ControlSubscription {
    package enum Event: Sendable {
        case event(StreamEvent)
        /// Nothing more comes.
        case ended(ControlError)
    }

    package typealias Handler = (Event) -> Void

    private let loop: EventLoop
    private var socket: ClientSocket
    private var reader = StreamReader()
    /// `nil` when it has ended.
    private var handler: Handler?

    /// Watches a target.
    ///
    /// - Parameter withRequests: What happens to the caller's requests comes in between, as
    ///   ``StreamEvent/Content/other(type:_:)`` for ``QueueNotice`` to read. For those who will show it: a queue that is sent
    ///   tells much.
    package convenience init(
        path: String, target: Target, withRequests: Bool = false, patience: Duration = .seconds(1),
        on loop: EventLoop, handler: @escaping Handler
    ) throws(ControlError) {
        var parameters: [String: JSONValue] = ["target": .string(target.description)]
        if withRequests { parameters["queue"] = .bool(true) }
        try self.init(
            path: path, VarlinkCall(MonitorInterface.name + ".Watch", parameters, wantsMore: true),
            patience: patience, on: loop, handler: handler)
    }

    /// Watches a request, or all that the caller may see. Its events are ``StreamEvent/Content/other(type:_:)``, for
    /// ``QueueNotice`` to read.
    package convenience init(
        path: String, request id: Int64?, patience: Duration = .seconds(1), on loop: EventLoop,
        handler: @escaping Handler
    ) throws(ControlError) {
        let parameters: [String: JSONValue] = id.map { ["id": .integer($0)] } ?? [:]
        try self.init(
            path: path, VarlinkCall(QueueInterface.name + ".Watch", parameters, wantsMore: true),
            patience: patience, on: loop, handler: handler)
    }

    /// Connects, and calls `handler` with what the daemon tells. Not before this returns.
    ///
    /// - Parameter patience: For the connection and the call, during which the thread waits; a daemon that lives takes
    ///   them at once.
    private init(
        path: String, _ call: VarlinkCall, patience: Duration, on loop: EventLoop, handler: @escaping Handler
    ) throws(ControlError) {
        self.loop = loop
        self.handler = handler
        socket = try ClientSocket(path: path, patience: patience)
        try socket.send(call)
        do throws(SystemError) {
            try loop.watch(socket.descriptor, for: .readable) { [unowned self] _ in read() }
        } catch {
            self.handler = nil
            throw .failed(path: path, error)
        }
    }

    deinit { cancel() }

    /// The handler is not called again.
    package func cancel() {
        guard handler != nil else { return }
        handler = nil
        loop.unwatch(socket.descriptor)
    }

    private func read() {
        do throws(ControlError) {
            _ = try socket.receive()
            while handler != nil, let reply = try socket.nextReply() { try take(reply) }
        } catch {
            end(error)
        }
    }

    private func take(_ reply: VarlinkReply) throws(ControlError) {
        if let error = reply.error { throw .refused(error) }
        guard let event = reply.parameters["event"] else { throw .notUnderstood("there is no event") }
        do throws(StatusReadingError) {
            handler?(.event(try reader.read(event)))
        } catch {
            throw .notUnderstood(error.description)
        }
        if !reply.continues { throw .closed(path: socket.path) }
    }

    private func end(_ error: ControlError) {
        let handler = handler
        cancel()
        handler?(.ended(error))
    }
}
