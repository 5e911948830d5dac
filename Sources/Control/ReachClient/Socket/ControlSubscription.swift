package import ReachCore
package import ReachLoop

/// Watches a target, or what another call names, over one connection to the daemon, on an event loop's thread.
///
/// It does not reconnect; ``DaemonWatch`` does.
package final class ControlSubscription {
    package enum Event: Sendable {
        case event(StreamEvent)
        /// The connection has ended; no event follows.
        case ended(ControlError)
    }

    package typealias Handler = (Event) -> Void

    private let loop: EventLoop
    private var socket: ClientSocket
    private var reader = EventStreamReader()
    /// The handler; `nil` after the end.
    private var handler: Handler?
    /// The call for a daemon that does not know all parameters of the first one.
    private var plainCall: VarlinkCall?

    /// Watches a target.
    ///
    /// - Parameters:
    ///   - withRequests: Whether to include the events of the caller's requests, as ``StreamEvent/other(_:type:_:)``
    ///     for ``QueueNotice`` to read. Pass `true` only to show them: a busy queue emits many events.
    ///   - seeksPath: Whether somebody waits for a path: the daemon then asks gateways that did not answer. An older
    ///     daemon does not, and its events are the same.
    package convenience init(
        path: String, target: Target, withRequests: Bool = false, seeksPath: Bool = false,
        patience: Duration = .seconds(1), on loop: EventLoop, handler: @escaping Handler
    ) throws(ControlError) {
        var parameters: [String: JSONValue] = ["target": .string(target.description)]
        if withRequests { parameters["queue"] = .bool(true) }
        let method = MonitorInterface.name + ".Watch"
        let plainCall = VarlinkCall(method, parameters, wantsMore: true)
        if seeksPath { parameters[MonitorInterface.waitingParameter] = .bool(true) }
        try self.init(
            path: path, VarlinkCall(method, parameters, wantsMore: true), patience: patience, on: loop,
            handler: handler)
        if seeksPath { self.plainCall = plainCall }
    }

    /// Connects, and calls `handler` with the daemon's events, but not before this returns.
    ///
    /// - Parameter patience: The longest time for which connecting and sending the call block the thread; a live daemon
    ///   accepts both at once.
    package init(
        path: String, _ call: VarlinkCall, within limits: CallLimits = .monitor, patience: Duration,
        on loop: EventLoop, handler: @escaping Handler
    ) throws(ControlError) {
        self.loop = loop
        self.handler = handler
        socket = try ClientSocket(path: path, patience: patience)
        try socket.send(call, within: limits)
        do throws(SystemError) {
            try loop.watch(socket.descriptor, for: .readable) { [unowned self] _ in read() }
        } catch {
            self.handler = nil
            throw .failed(path: path, error)
        }
    }

    deinit { cancel() }

    /// Ends the subscription. The handler is not called again.
    package func cancel() {
        guard handler != nil else { return }
        handler = nil
        loop.unwatch(socket.descriptor)
    }

    private func read() {
        do throws(ControlError) {
            _ = try socket.receive()
            while handler != nil, let reply = try socket.nextReply() { try handle(reply) }
        } catch {
            end(error)
        }
    }

    private func handle(_ reply: VarlinkReply) throws(ControlError) {
        if let error = reply.error {
            guard let plainCall, error == .invalidParameter(MonitorInterface.waitingParameter) else {
                throw .refused(error)
            }
            self.plainCall = nil
            return try socket.send(plainCall, within: .monitor)
        }
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
