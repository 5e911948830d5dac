package import ReachCore

/// A call that waits for its answer: exactly one, now or later. Later ones are ignored, and so is any answer to a
/// caller who has left. A call that wants no answer is over when it would have been answered.
package final class ControlRequest {
    package let call: VarlinkCall
    package let caller: Caller
    /// Whether the caller may change something, as it was when the call came.
    var mayChange = false
    /// It went through the gate for costly calls.
    var isCostly = false
    /// Until it is over: a call is counted for its user even if the caller has left.
    private var connection: Connection?
    private weak var switchboard: Switchboard?

    init(_ call: VarlinkCall, on connection: Connection, of switchboard: Switchboard) {
        self.call = call
        caller = connection.caller
        self.connection = connection
        self.switchboard = switchboard
    }

    /// Nobody waits for what it would bring about: the caller has left, or takes no answer.
    var isAbandoned: Bool { connection?.isClosed ?? true }

    /// Answers with parameters that `body` writes; or, where they are more than a client takes, with an error.
    package func reply(_ body: (inout JSONWriter) -> Void = { _ in }) {
        answer {
            let frame = VarlinkReply.frame(body)
            guard frame.count > FrameReader.standardLimit else { return frame }
            let reason = "the answer has more than \(FrameReader.standardLimit) bytes"
            return VarlinkReply.frame(of: MonitorError.notAvailable(reason: reason).varlink)
        }
    }

    package func fail(_ error: VarlinkError) { answer { VarlinkReply.frame(of: error) } }

    /// Answers with what came of something.
    package func reply<Value>(
        _ result: Result<Value, MonitorError>, _ body: (inout JSONWriter, Value) -> Void
    ) {
        switch result {
        case .success(let value): reply { body(&$0, value) }
        case .failure(let error): fail(error.varlink)
        }
    }

    /// Answers with all that happens from now on, to the caller's requests too where that is wanted.
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

    /// Answers with what came of something that the queue was asked.
    package func reply<Value>(
        _ result: Result<Value, QueueServiceError>, _ body: (inout JSONWriter, Value) -> Void
    ) {
        switch result {
        case .success(let value): reply { body(&$0, value) }
        case .failure(let error): fail(error.varlink)
        }
    }

    /// Answers with all that happens to a request from now on, or to all.
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

    /// - Parameter frame: Makes the answer. Not called where nobody takes it.
    private func answer(_ frame: () -> [UInt8]) {
        guard let connection, let switchboard else { return }
        self.connection = nil
        switchboard.work(for: caller.user) {
            connection.finish(with: call.isOneWay || connection.isClosed ? nil : frame())
            if isCostly { switchboard.finishCostlyCall(of: caller.user) }
        }
    }
}
