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
        note(of: id).channel = channel
        if tasks[id]?.count ?? 0 > 1 { attempts[id]?.copy = [] }
        channel.begin(response)
    }

    /// Prepares a request that is being read in pieces for another task that joins it by its unique name: from now on
    /// the answer is also kept as a whole.
    ///
    /// - Returns: `false` where pieces are gone, so that the answer cannot be had as a whole.
    func keepsWhole(_ id: RequestID) -> Bool {
        guard let channel = attempts[id]?.channel, attempts[id]?.copy == nil else { return true }
        guard !channel.hasBegun else { return false }
        attempts[id]?.copy = []
        return true
    }

    /// Detaches a task that reads an answer in pieces, for which other tasks wait.
    func endReading(by task: RequestTask, of id: RequestID) {
        guard let channel = attempts[id]?.channel, task.state.withLock({ $0.channel }) === channel else { return }
        attempts[id]?.isUnread = true
        engine?.resumeReading(id)
    }

    func received(_ bytes: [UInt8], of id: RequestID) {
        guard let note = attempts[id] else { return }
        if let block = options.hooks.received, !note.isPassedOver { block(tasks[id]?.first, bytes) }
        // Of an answer that is not read in pieces, only that block wants them.
        guard channel(of: id) != nil || note.channel != nil else { return }
        if let channel = note.channel {
            keep(bytes, note, of: id)
            if !note.isUnread { channel.append(bytes) }
            return
        }
        // Of any other answer the body is kept for the error.
        note.rejectedBytes += Int64(bytes.count)
        if note.rejectedBytes > options.maximumAnswerBytes { return endTooLarge(id) }
        let room = Self.rejectedBodyLimit - note.rejectedBody.count
        if room > 0 { note.rejectedBody += bytes.prefix(room) }
    }

    /// Keeps a piece for the tasks that wait for the whole answer, within the limit of answers.
    private func keep(_ bytes: [UInt8], _ note: AttemptNote, of id: RequestID) {
        guard let count = note.copy?.count else { return }
        guard Int64(count + bytes.count) > options.maximumAnswerBytes else {
            note.copy?.append(contentsOf: bytes)
            return
        }
        note.copy = nil
        for task in tasks[id] ?? [] where task.state.withLock({ $0.channel }) !== note.channel {
            if task.end(with: .keptAnswerTooLarge) { cancel(task) }
        }
    }

    /// Ends tasks whose request is answered by more than a session reads of an answer that it does not accept.
    private func endTooLarge(_ id: RequestID) {
        for task in tasks[id] ?? [] where task.end(with: .answerTooLarge) { cancel(task) }
    }

    func hasRoom(for id: RequestID) -> Bool {
        guard let note = attempts[id], !note.isUnread else { return true }
        return note.channel?.hasRoom ?? true
    }

    func resumeReading(_ task: RequestTask) {
        if let id = task.requestID { engine?.resumeReading(id) }
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
    fileprivate static let keptAnswerTooLarge = RequestError(
        .response, "response-too-large", "the answer is larger than the session keeps")
    /// The error of a task that joins a request of its unique name too late.
    static let beingRead = RequestError(
        .notTaken, "being-read",
        "another task of this name is reading the answer in pieces, of which the first are gone")
    fileprivate static let brokenStream = RequestError(
        .destination, "network-changed", "the network was lost while the answer arrived")
}
