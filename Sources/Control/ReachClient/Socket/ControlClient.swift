internal import Glibc
package import ReachCore
package import ReachLoop

/// A synchronous client of the daemon: each call blocks until its answer arrives.
package struct ControlClient: ~Copyable {
    private var socket: ClientSocket
    /// The longest wait for each answer.
    package var patience: Duration

    /// The longest wait for an answer that costs the daemon nothing, which a live daemon gives within milliseconds. A
    /// daemon that is stopped (SIGSTOP) or hangs keeps its socket, and the kernel accepts connections for it.
    package static let shortPatience: Duration = .seconds(3)

    /// - Parameter patience: The longest wait for the connection, and for each answer.
    package init(path: String, patience: Duration = .seconds(5)) throws(ControlError) {
        socket = try ClientSocket(path: path, patience: patience)
        self.patience = patience
    }

    /// Makes a call that costs the daemon nothing. Fails soon if the daemon does not answer, so call it before a call
    /// that may take long.
    package mutating func ping() throws(ControlError) {
        _ = try callBriefly(VarlinkCall("org.varlink.service.GetInfo", [:]))
    }

    package mutating func callBriefly(_ question: VarlinkCall) throws(ControlError) -> [String: JSONValue] {
        let before = patience
        patience = min(before, Self.shortPatience)
        defer { patience = before }
        return try call(question)
    }

    package mutating func status(of target: Target) throws(ControlError) -> ReachabilityState {
        let answer = try call("Status", ["target": .string(target.description)])
        return try read("status", of: answer, ReachabilityState.init(reading:))
    }

    /// Reads a member of an answer.
    package func read<Value>(
        _ name: String, of parameters: [String: JSONValue],
        _ body: (JSONValue) throws(StatusReadingError) -> Value
    ) throws(ControlError) -> Value {
        guard let json = parameters[name] else { throw .notUnderstood("'\(name)' is missing") }
        do throws(StatusReadingError) {
            return try body(json)
        } catch {
            throw .notUnderstood(error.description)
        }
    }

    /// Reads the elements of a member of an answer.
    package func list<Element>(
        _ name: String, of parameters: [String: JSONValue],
        _ body: (JSONValue) throws(StatusReadingError) -> Element
    ) throws(ControlError) -> [Element] {
        try read(name, of: parameters) { json throws(StatusReadingError) in
            guard let elements = json.array else { throw StatusReadingError(key: name) }
            return try elements.map(body)
        }
    }

    /// Calls a method of io.reach.Monitor.
    package mutating func call(
        _ method: String, _ parameters: [String: JSONValue]
    ) throws(ControlError) -> [String: JSONValue] {
        try call(VarlinkCall(MonitorInterface.name + "." + method, parameters))
    }

    /// Calls a method that has one answer.
    ///
    /// - Parameters:
    ///   - memory: Its descriptor is sent with the call.
    ///   - limits: What the daemon takes in the call.
    package mutating func call(
        _ call: VarlinkCall, with memory: SealedMemory? = nil, within limits: CallLimits = .monitor
    ) throws(ControlError) -> [String: JSONValue] {
        try socket.send(call, with: memory, within: limits)
        let deadline = SystemClock.boot + patience
        while true {
            if let reply = try socket.nextReply() {
                if let error = reply.error { throw .refused(error) }
                return reply.parameters
            }
            try waitForBytes(until: deadline)
        }
    }

    private mutating func waitForBytes(until deadline: BootTime) throws(ControlError) {
        let milliseconds = (deadline - SystemClock.boot).nanoseconds / 1_000_000
        var poll = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
        let limit = CInt(clamping: max(0, milliseconds))
        guard Glibc.poll(&poll, 1, limit) != 0 else { throw .timedOut(path: socket.path) }
        _ = try socket.receive()
    }
}
