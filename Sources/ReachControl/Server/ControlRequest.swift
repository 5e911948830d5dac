package import ReachCore

/// A call that waits for its answer. The first answer counts; later ones are ignored, and so is an answer to a caller
/// that has hung up. A one-way call ends when an answer would have been sent.
package final class ControlRequest {
    package let call: VarlinkCall
    package let caller: Caller
    /// Whether the caller may change something, determined when the call arrived.
    var mayChange = false
    /// Whether the call went through the gate for costly calls.
    var isCostly = false
    /// The connection, until the call is over: a call counts for its user even after the caller has hung up.
    private var connection: Connection?
    private weak var switchboard: Switchboard?

    init(_ call: VarlinkCall, on connection: Connection, of switchboard: Switchboard) {
        self.call = call
        caller = connection.caller
        self.connection = connection
        self.switchboard = switchboard
    }

    /// Whether the call is over, or its caller has hung up.
    var isAbandoned: Bool { connection?.isClosed ?? true }

    /// Answers with the parameters that `body` writes. Answers with an error if they exceed the length of a message.
    package func reply(_ body: (inout JSONWriter) -> Void = { _ in }) {
        answer {
            let frame = VarlinkReply.frame(body)
            guard frame.count > FrameReader.standardLimit else { return frame }
            let reason = "the answer has more than \(FrameReader.standardLimit) bytes"
            return VarlinkReply.frame(of: MonitorError.notAvailable(reason: reason).varlink)
        }
    }

    package func fail(_ error: VarlinkError) { answer { VarlinkReply.frame(of: error) } }

    /// Answers with a result, or with its error.
    package func reply<Value>(
        _ result: Result<Value, MonitorError>, _ body: (inout JSONWriter, Value) -> Void
    ) {
        switch result {
        case .success(let value): reply { body(&$0, value) }
        case .failure(let error): fail(error.varlink)
        }
    }

    /// Answers with the events of a target from now on.
    ///
    /// - Parameter withRequests: Whether to include the events of the caller's requests.
    func stream(_ topics: Topics, _ target: Target, withRequests: Bool) throws(VarlinkError) {
        guard let connection, !connection.isClosed, !call.isOneWay else { return answer { [] } }
        self.connection = nil
        do throws(MonitorError) {
            try topics.subscribe(connection, to: target, withRequests: withRequests)
        } catch {
            self.connection = connection
            throw error.varlink
        }
    }

    /// Answers with a result of the queue, or with its error.
    package func reply<Value>(
        _ result: Result<Value, QueueServiceError>, _ body: (inout JSONWriter, Value) -> Void
    ) {
        switch result {
        case .success(let value): reply { body(&$0, value) }
        case .failure(let error): fail(error.varlink)
        }
    }

    /// Answers with the events of a request from now on, or of all requests if `id` is `nil`.
    func stream(_ topics: Topics, request id: Int64?) throws(VarlinkError) {
        guard let connection, !connection.isClosed, !call.isOneWay else { return answer { [] } }
        self.connection = nil
        do throws(VarlinkError) {
            try topics.subscribe(connection, toRequest: id)
        } catch {
            self.connection = connection
            throw error
        }
    }

    /// - Parameter frame: Makes the answer. Not called if no one receives it.
    private func answer(_ frame: () -> [UInt8]) {
        guard let connection, let switchboard else { return }
        self.connection = nil
        switchboard.work(for: caller.user) {
            connection.finish(with: call.isOneWay || connection.isClosed ? nil : frame())
            if isCostly { switchboard.finishCostlyCall(of: caller.user) }
        }
    }
}
