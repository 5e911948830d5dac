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

    private mutating func callBriefly(_ question: VarlinkCall) throws(ControlError) -> [String: JSONValue] {
        let before = patience
        patience = min(before, Self.shortPatience)
        defer { patience = before }
        return try call(question)
    }

    package mutating func status(of target: Target) throws(ControlError) -> ReachabilityState {
        let answer = try call("Status", ["target": .string(target.description)])
        return try read("status", of: answer, ReachabilityState.init(reading:))
    }

    /// Gets the names of the configured targets; none from a daemon that is too old to say.
    package mutating func targetNames() throws(ControlError) -> [String] {
        (try configuredNames()?["targets"]?.array ?? []).compactMap { $0["name"]?.string }
    }

    /// Gets the names of the configured networks.
    ///
    /// - Returns: `nil` from a daemon that is too old to say.
    package mutating func networkNames() throws(ControlError) -> [String]? {
        try configuredNames()?["networks"]?.array?.compactMap(\.string)
    }

    private mutating func configuredNames() throws(ControlError) -> JSONValue? {
        do throws(ControlError) {
            return .object(try call("Targets", [:]))
        } catch {
            if case .refused(let refused) = error, refused.name == "org.varlink.service.MethodNotFound" { return nil }
            throw error
        }
    }

    package mutating func links() throws(ControlError) -> [LinkReport] {
        try list("links", of: try call("Links", [:]), LinkReport.init(reading:))
    }

    package mutating func explanation(of target: Target) throws(ControlError) -> Explanation {
        let answer = try call("Explain", ["target": .string(target.description)])
        return try read("explanation", of: answer, Explanation.init(reading:))
    }

    /// Reads a member of an answer.
    func read<Value>(
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
    func list<Element>(
        _ name: String, of parameters: [String: JSONValue],
        _ body: (JSONValue) throws(StatusReadingError) -> Element
    ) throws(ControlError) -> [Element] {
        try read(name, of: parameters) { json throws(StatusReadingError) in
            guard let elements = json.array else { throw StatusReadingError(key: name) }
            return try elements.map(body)
        }
    }

    /// Gets the configured probes, in the order of the configuration, page by page.
    package mutating func probes() throws(ControlError) -> [ProbeReport] {
        var reports: [ProbeReport] = []
        var next: Int64? = 0
        while let after = next {
            let answer = try probePage(after: after)
            reports += try list("probes", of: answer, ProbeReport.init(reading:))
            // A page that does not advance is a fault of the daemon.
            next = answer["next"]?.integer.flatMap { $0 > after ? $0 : nil }
        }
        return reports
    }

    private mutating func probePage(after count: Int64) throws(ControlError) -> [String: JSONValue] {
        do throws(ControlError) {
            return try call("Probes", [ProbePage.afterParameter: .integer(count)])
        } catch {
            // A daemon that is too old for pages gives all at once.
            guard case .refused(let refusal) = error, refusal == .invalidParameter(ProbePage.afterParameter) else {
                throw error
            }
            return try call("Probes", [:])
        }
    }

    /// Orders one attempt now. The patience must exceed the time that the attempt may take.
    package mutating func probe(_ order: ProbeOrder) throws(ControlError) -> ProbeAnswer {
        var parameters: [String: JSONValue] = ["target": .string(order.target)]
        if let interface = order.interface { parameters["interface"] = .string(interface) }
        if let timeout = order.timeout {
            parameters["timeout_ms"] = .integer(max(1, timeout.nanoseconds / 1_000_000))
        }
        return try read("result", of: try call("Probe", parameters), ProbeAnswer.init(reading:))
    }

    /// Whether the daemon watches the network namespace of the calling thread, and runs in the same VRF, if any.
    /// Answers about another network do not apply.
    package mutating func isInThisNamespace() throws(ControlError) -> Bool {
        let question = VarlinkCall(MonitorInterface.name + ".NetworkNamespace", [:])
        let reply = try callBriefly(question)
        guard let inode = reply["inode"]?.integer else { return false }
        return UInt64(exactly: inode) == NetworkNamespace.inode
            && reply["vrf"]?.integer == ProcessVRF.binding().map(Int64.init)
    }

    /// Runs the hooks with a sample event. The patience must exceed their time limit.
    package mutating func testHooks() throws(ControlError) -> HookTestReport {
        guard let report = HookTestReport(reading: try call("TestHooks", [:])) else {
            throw .notUnderstood("there is no report")
        }
        return report
    }

    package mutating func reload() throws(ControlError) { _ = try call("Reload", [:]) }

    /// Calls a method of io.reach.Monitor.
    private mutating func call(
        _ method: String, _ parameters: [String: JSONValue]
    ) throws(ControlError) -> [String: JSONValue] {
        try call(VarlinkCall(MonitorInterface.name + "." + method, parameters))
    }

    /// Calls a method that has one answer.
    ///
    /// - Parameter memory: Its descriptor is sent with the call.
    package mutating func call(
        _ call: VarlinkCall, with memory: SealedMemory? = nil
    ) throws(ControlError) -> [String: JSONValue] {
        try socket.send(call, with: memory)
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
