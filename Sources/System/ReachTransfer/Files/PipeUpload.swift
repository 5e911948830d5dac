internal import ReachLoop

/// A body that its producer writes while it is sent. Two are equal if they are the same object.
package final class ArrivingBody: Hashable, Sendable {
    /// The length in bytes; `nil` if only the end shows it.
    package let count: UInt64?
    /// Opens it at its first byte, each time that it is sent.
    package let open: @Sendable () throws(TransferFailure) -> BodyPipe

    package init(count: UInt64?, open: @escaping @Sendable () throws(TransferFailure) -> BodyPipe) {
        self.count = count
        self.open = open
    }

    package static func == (left: ArrivingBody, right: ArrivingBody) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The body of a transfer from a ``BodyPipe``. Confined to the loop.
final class PipeUpload: UploadSource {
    let length: UInt64?
    private let pipe: BodyPipe
    private let mailbox: Mailbox
    private let loopReference = LoopReference<PipeUpload>()
    /// Called when there are bytes to send, or the end has come.
    var onReady: () -> Void = {}

    init(_ pipe: BodyPipe, length: UInt64?, loop: EventLoop) {
        self.pipe = pipe
        self.length = length
        mailbox = loop.mailbox
        loopReference.owner = self
    }

    deinit { loopReference.owner = nil }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadPiece {
        let piece = pipe.read(into: buffer) { [loopReference, mailbox] in
            mailbox.post { _ in loopReference.owner?.onReady() }
        }
        switch piece {
        case .bytes(let count): return .bytes(count)
        case .wait: return .wait
        case .end: return .bytes(0)
        case .failed(let error): return .failed(TransferFailure(.badRequest, "the body cannot be read: \(error)"))
        }
    }

    func rewind() -> Bool { !pipe.hasBegun }
}
