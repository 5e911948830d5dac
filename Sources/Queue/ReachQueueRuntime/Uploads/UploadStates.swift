internal import Glibc
internal import ReachLoop
internal import ReachQueue
internal import ReachTransfer

/// What is known of resumable uploads, in memory and, where the queue is on a disk, in a file for each. Confined to the
/// loop; a thread waits for the disk.
final class UploadStates {
    private let thread = SerialThread.files
    private let replies: LoopReplies
    private var states: [RequestID: UploadState] = [:]
    /// As the files have them.
    private var recorded: [RequestID: UploadState] = [:]

    init(on loop: EventLoop) { replies = LoopReplies(loop: loop) }

    subscript(id: RequestID) -> UploadState? { states[id] }

    /// What an earlier run left.
    func adopt(_ states: [RequestID: UploadState]) {
        self.states = states
        recorded = states
    }

    func note(_ state: UploadState, of id: RequestID) { states[id] = state }

    /// Keeps the state, for a later run too, if there is anything new in it. A file that cannot be written ends
    /// nothing: without it a later run begins again.
    func record(_ state: UploadState, of id: RequestID, in spool: QueueSpool?, then: @escaping () -> Void) {
        note(state, of: id)
        let old = recorded[id]
        guard let spool, old?.url != state.url || old?.offset != state.offset || old?.body != state.body,
            let text = state.text
        else { return then() }
        recorded[id] = state
        let written = replies.expect { (_: Bool) in then() }
        thread.run { [path = spool.path(QueueDirectory.uploadName(id))] in
            written((try? AtomicFile.replace(path, with: Array(text.utf8))) != nil)
        }
    }

    /// Opens a body.
    func open(_ body: TransferBody, reply: @escaping (Result<UploadBody, TransferFailure>) -> Void) {
        let opened = replies.expect(reply)
        thread.run { opened(Result { () throws(TransferFailure) in try UploadBody(body) }) }
    }

    /// The request is over.
    func forget(_ id: RequestID, in spool: QueueSpool?) {
        guard !states.isEmpty, states.removeValue(forKey: id) != nil else { return }
        if recorded.removeValue(forKey: id) != nil { spool?.remove(QueueDirectory.uploadName(id)) }
    }
}
