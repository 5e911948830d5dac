package import ReachCore

/// A call that waits for its answer: exactly one, now or later. Later ones are ignored, and so is any answer to a
/// caller who has left.
package final class ControlRequest {
    package let call: VarlinkCall
    package let caller: Caller
    /// Whether the caller may change something. Asks the kernel, where that is needed.
    var mayChange: () -> Bool = { false }
    private weak var connection: Connection?

    /// - Parameter connection: `nil` where no answer is wanted.
    init(_ call: VarlinkCall, from caller: Caller, answerTo connection: Connection?) {
        self.call = call
        self.caller = caller
        self.connection = connection
    }

    /// Answers with parameters that `body` writes; or, where they are more than a client takes, with an error.
    package func reply(_ body: (inout JSONWriter) -> Void = { _ in }) {
        let frame = VarlinkReply.frame(body)
        guard frame.count > FrameReader.standardLimit else { return answer(frame) }
        fail(MonitorError.notAvailable(reason: "the answer has more than \(FrameReader.standardLimit) bytes").varlink)
    }

    package func fail(_ error: VarlinkError) { answer(VarlinkReply.frame(of: error)) }

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
        guard let connection else { return }
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
        guard let connection else { return }
        self.connection = nil
        do throws(VarlinkError) {
            try topics.subscribe(connection, toRequest: id)
        } catch {
            self.connection = connection
            throw error
        }
    }

    private func answer(_ frame: [UInt8]) {
        let asker = connection
        connection = nil
        asker?.answer(frame)
    }
}
