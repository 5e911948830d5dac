internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachSerialization
internal import ReachTransfer
internal import Synchronization

/// Answers that are read in pieces.
extension SessionLoop {
    func channel(of id: RequestID) -> ResponseChannel? {
        tasks[id]?.lazy.compactMap { $0.state.withLock { $0.channel } }.first
    }

    /// Has the answer come in pieces, if a task reads them.
    func prepareStream(_ transfer: inout TransferRequest, of id: RequestID) {
        guard channel(of: id) != nil else { return }
        transfer.sink = .events
        transfer.limit.bodyBytes = .max
    }

    /// Begins to pass on an answer that the request accepts.
    func beginStream(_ response: WebResponse, of id: RequestID) {
        guard let channel = channel(of: id), let accepted = tasks[id]?.first?.options.acceptedStatuses,
            accepted.contains(where: { $0.contains(response.statusCode) })
        else { return }
        attempts[id, default: AttemptNote()].channel = channel
        channel.begin(response)
    }

    func received(_ bytes: [UInt8], of id: RequestID) {
        if let channel = attempts[id]?.channel { return channel.append(bytes) }
        // Of any other answer the body is kept for the error.
        attempts[id]?.rejectedBytes += Int64(bytes.count)
        guard let note = attempts[id] else { return }
        if note.rejectedBytes > options.maximumAnswerBytes { return endTooLarge(id) }
        let room = Self.rejectedBodyLimit - note.rejectedBody.count
        if room > 0 { attempts[id]?.rejectedBody += bytes.prefix(room) }
    }

    /// Ends tasks whose request is answered by more than a session reads of an answer that it does not accept.
    private func endTooLarge(_ id: RequestID) {
        for task in tasks[id] ?? [] where task.end(with: .answerTooLarge) { cancel(task) }
    }

    func hasRoom(for id: RequestID) -> Bool { attempts[id]?.channel?.hasRoom ?? true }

    func resumeReading(_ task: RequestTask) {
        if let id = numbers[task.identifier] { engine?.resumeReading(id) }
    }

    /// Ends tasks whose answers have begun to arrive: another attempt would begin at the first byte again.
    ///
    /// - Returns: The tasks that may be repeated.
    func endBrokenStreams(_ tasks: [RequestTask], _ id: RequestID) -> [RequestTask] {
        tasks.filter { task in
            guard let channel = task.state.withLock({ $0.channel }), channel.hasBegun else { return true }
            let failure = attempts[id]?.failure
            if task.end(with: failure.map { RequestError(.exhausted, $0) } ?? .brokenStream) { cancel(task) }
            return false
        }
    }

    /// The most bytes of a rejected answer that are kept.
    private static let rejectedBodyLimit = 1 << 20
}

extension RequestError {
    fileprivate static let answerTooLarge = RequestError(
        .response, "response-too-large", "the answer is not accepted, and larger than the session reads")
    fileprivate static let brokenStream = RequestError(
        .destination, "network-changed", "the network was lost while the answer arrived")
}
