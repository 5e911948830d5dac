internal import CSystemdBus
internal import Glibc
internal import ReachCore
internal import ReachDesktop
internal import ReachLoop

/// A connection to a D-Bus bus on an event loop's thread, by sd-bus.
final class BusConnection {
    enum Kind { case system, session }

    /// Answers a method call.
    typealias CallHandler = (BusCall) throws(BusFailure) -> [BusValue]

    private let handle: BusHandle
    var bus: OpaquePointer { handle.pointer }
    private let loop: EventLoop
    private let descriptor: CInt
    private var timer: TimerQueue.ID?
    private var handler: CallHandler?
    /// Calls that were read and not answered.
    private var turns = CallTurns<BusMessage>()
    fileprivate var signalHandlers: [(BusMessage) -> Void] = []
    /// Why the connection has ended, which stops the loop.
    private(set) var failure: DesktopError?

    init(_ kind: Kind, on loop: EventLoop) throws(DesktopError) {
        self.loop = loop
        handle = try BusHandle.open(kind)
        descriptor = sd_bus_get_fd(handle.pointer)
        do throws(SystemError) {
            try loop.watch(descriptor, for: .readable) { [unowned self] _ in process() }
        } catch {
            throw DesktopError(status: .unavailable, message: "cannot watch the bus: \(error)")
        }
        loop.afterEvents { [weak self] in self?.process() }
    }

    // The handle closes the bus afterwards.
    deinit { loop.unwatch(descriptor) }

    static func unavailable(_ what: String, _ result: CInt) -> DesktopError {
        DesktopError(status: .unavailable, message: "\(what): \(SystemError.text(-result))")
    }

    // MARK: - Processing

    /// The most messages between two polls of the descriptors.
    private static let messagesPerTurn = 64
    private static let answersMeanwhile = 4

    private func process() {
        guard failure == nil else { return }
        var hasRead = false
        for _ in 0..<Self.messagesPerTurn {
            let result = sd_bus_process(bus, nil)
            if result < 0 { return end(result) }
            hasRead = result == 0
            if hasRead { break }
        }
        // While more comes it is read, and a few who call are answered, so that a flood is no standstill.
        for _ in 0..<(hasRead ? Self.messagesPerTurn : Self.answersMeanwhile) {
            guard let call = turns.next() else { break }
            answer(call)
        }
        if hasRead, turns.isEmpty { return wait() }
        loop.afterEvents { [weak self] in self?.process() }
    }

    private func end(_ result: CInt) {
        failure = Self.unavailable("the bus has gone away", result)
        loop.stop()
    }

    /// Waits for what sd-bus waits for.
    private func wait() {
        let events = sd_bus_get_events(bus)
        guard events >= 0 else { return end(events) }
        var interest: EventLoop.Interest = []
        if events & CInt(POLLIN) != 0 { interest.insert(.readable) }
        if events & CInt(POLLOUT) != 0 { interest.insert(.writable) }
        try? loop.change(descriptor, to: interest)
        timer.map(loop.cancel)
        timer = nil
        var microseconds: UInt64 = 0
        guard sd_bus_get_timeout(bus, &microseconds) >= 0, microseconds != .max else { return }
        // By CLOCK_MONOTONIC, which does not count sleep; a deadline that comes late by it does no harm.
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let passed = UInt64(now.tv_sec) * 1_000_000 + UInt64(now.tv_nsec) / 1000
        let rest: Duration = .microseconds(Int64(clamping: microseconds > passed ? microseconds - passed : 0))
        timer = loop.schedule(at: SystemClock.boot + rest) { [unowned self] in
            timer = nil
            process()
        }
    }

    // MARK: - Messages

    /// Answers the method calls of all objects by the handler.
    func serve(_ handler: @escaping CallHandler) throws(DesktopError) {
        self.handler = handler
        let result = sd_bus_add_fallback(bus, nil, "/", receiveCall, Unmanaged.passUnretained(self).toOpaque())
        guard result >= 0 else { throw Self.unavailable("cannot offer objects on the bus", result) }
    }

    /// Keeps a call until its sender has its turn.
    fileprivate func receive(_ message: BusMessage) {
        if let refused = turns.add(message, of: message.sender ?? "") { refused.answer(BusFailure.tooManyCalls) }
    }

    private func answer(_ message: BusMessage) {
        guard let handler, let call = message.call else { return }
        do throws(BusFailure) {
            message.answer(try handler(call), on: bus)
        } catch {
            message.answer(error)
        }
    }

    /// The bus itself, which names the sender of each message.
    static let driver = "org.freedesktop.DBus"

    /// Calls the handler with each signal that matches the rule and has this sender. A rule alone says nothing of the
    /// sender: any program can send a signal to this connection, and sd-bus takes all senders with a unique name for
    /// the owner of a name.
    ///
    /// - Parameter sender: A unique name, or ``driver``; `nil` while there is none to trust.
    func match(
        _ rule: String, from sender: @escaping () -> String?, _ handler: @escaping (BusMessage) -> Void
    ) throws(DesktopError) {
        signalHandlers.append { message in
            if let sender = sender(), message.sender == sender { handler(message) }
        }
        let entry = MatchEntry(connection: self, place: signalHandlers.count - 1)
        // As long as the connection, which is as long as the process.
        let result = sd_bus_add_match(
            bus, nil, "type='signal'," + rule, handleMatch, Unmanaged.passRetained(entry).toOpaque())
        guard result >= 0 else { throw Self.unavailable("cannot follow the bus", result) }
    }

    func emit(_ signal: BusSignal) {
        var message: OpaquePointer?
        let result = sd_bus_message_new_signal(bus, &message, signal.path, signal.interface, signal.member)
        guard result >= 0, let message else { return }
        defer { sd_bus_message_unref(message) }
        guard BusWriter.append(signal.arguments, to: message) >= 0 else { return }
        _ = sd_bus_send(bus, message, nil)
        wait()
    }

    /// Calls a method and waits for the answer.
    func call(
        _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue]
    ) throws(DesktopError) -> BusMessage {
        var message: OpaquePointer?
        var reply: OpaquePointer?
        var result = sd_bus_message_new_method_call(bus, &message, destination, path, interface, member)
        defer { sd_bus_message_unref(message) }
        if result >= 0, let message { result = BusWriter.append(arguments, to: message) }
        if result >= 0 { result = sd_bus_call(bus, message, Self.callMicroseconds, nil, &reply) }
        // What came meanwhile waits in the connection, not in its descriptor.
        loop.afterEvents { [weak self] in self?.process() }
        guard result >= 0, let reply else { throw Self.unavailable("\(interface).\(member)", result) }
        return BusMessage(owning: reply)
    }

    private static let callMicroseconds: UInt64 = 5_000_000
}

/// A connection of sd-bus, closed when the value goes away.
private struct BusHandle: ~Copyable {
    let pointer: OpaquePointer

    private init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { sd_bus_flush_close_unref(pointer) }

    static func open(_ kind: BusConnection.Kind) throws(DesktopError) -> BusHandle {
        var made: OpaquePointer?
        let result = kind == .system ? sd_bus_open_system(&made) : sd_bus_open_user(&made)
        guard result >= 0, let made else { throw BusConnection.unavailable("there is no \(kind) bus", result) }
        let handle = BusHandle(owning: made)
        // The first call completes the connection.
        var name: UnsafePointer<CChar>?
        let greeting = sd_bus_get_unique_name(made, &name)
        guard greeting >= 0 else { throw BusConnection.unavailable("the \(kind) bus does not answer", greeting) }
        return handle
    }
}

private final class MatchEntry {
    unowned let connection: BusConnection
    let place: Int

    init(connection: BusConnection, place: Int) { (self.connection, self.place) = (connection, place) }
}

/// Called by sd-bus with a method call to one of the objects.
private func receiveCall(
    _ message: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<sd_bus_error>?
) -> CInt {
    guard let message, let userdata else { return 0 }
    Unmanaged<BusConnection>.fromOpaque(userdata).takeUnretainedValue().receive(BusMessage(sharing: message))
    return 1
}

/// Called by sd-bus with a message that matches a rule.
private func handleMatch(
    _ message: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<sd_bus_error>?
) -> CInt {
    guard let message, let userdata else { return 0 }
    let entry = Unmanaged<MatchEntry>.fromOpaque(userdata).takeUnretainedValue()
    entry.connection.signalHandlers[entry.place](BusMessage(sharing: message))
    return 0
}
