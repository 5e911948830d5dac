internal import Dispatch
public import Foundation
public import ReachSession
internal import Synchronization

extension ResponseStream {
    /// The body as Foundation's stream, for parsers that read one: Alamofire's `asInputStream(bufferSize:)`.
    ///
    /// Reading waits for the network, so it needs a thread that may wait: not one of Swift's concurrent executor. A
    /// slow reader pauses the connection. Closing or releasing the stream cancels the request. It has no events and
    /// is scheduled on no run loop.
    public func inputStream() -> InputStream { ResponseInputStream(self) }
}

/// Reads pieces in a Swift task, one ahead of its reader. Used by one thread at a time, as streams are.
private final class ResponseInputStream: InputStream {
    private let pieces: PieceReader
    private var rest: ArraySlice<UInt8> = []
    private var status = Status.notOpen
    private var failure: (any Error)?

    init(_ stream: ResponseStream) {
        pieces = PieceReader(stream)
        super.init(data: Data())
    }

    deinit { pieces.cancel() }

    override var streamStatus: Status { status }

    override var streamError: (any Error)? { failure }

    /// As the class says: it may be `true` where only reading can find out.
    override var hasBytesAvailable: Bool { status == .open }

    override func open() {
        if status == .notOpen { status = .open }
    }

    override func close() {
        pieces.cancel()
        (status, rest) = (.closed, [])
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength count: Int) -> Int {
        guard status == .open, count > 0 else { return status == .error || status == .notOpen ? -1 : 0 }
        if rest.isEmpty {
            switch pieces.next() {
            case .success(let piece?): rest = piece[...]
            case .success(nil):
                status = .atEnd
                return 0
            case .failure(let error):
                (status, failure) = (.error, error)
                return -1
            }
        }
        let piece = rest.prefix(count)
        piece.withUnsafeBufferPointer { bytes in
            if let start = bytes.baseAddress { buffer.update(from: start, count: bytes.count) }
        }
        rest = rest.dropFirst(count)
        return piece.count
    }
}

/// Lets a thread wait for the pieces of a stream, which a Swift task reads when they are wanted.
private final class PieceReader: Sendable {
    private let wanted: AsyncStream<Void>.Continuation
    private let found = PieceSlot()
    private let task: Task<Void, Never>

    init(_ stream: ResponseStream) {
        let (wishes, wanted) = AsyncStream.makeStream(of: Void.self)
        self.wanted = wanted
        task = Task { [found] in
            var pieces = stream.makeAsyncIterator()
            for await _ in wishes {
                do {
                    found.put(.success(try await pieces.next()))
                } catch {
                    found.put(.failure(error))
                }
            }
            found.put(.success(nil))
        }
    }

    func next() -> Result<[UInt8]?, any Error> {
        wanted.yield()
        return found.get()
    }

    func cancel() {
        task.cancel()
        wanted.finish()
    }
}

/// One piece on its way to the thread that waits for it.
private final class PieceSlot: Sendable {
    private let ready = DispatchSemaphore(value: 0)
    private let piece = Mutex<Result<[UInt8]?, any Error>>(.success(nil))

    func put(_ value: Result<[UInt8]?, any Error>) {
        piece.withLock { $0 = value }
        ready.signal()
    }

    func get() -> Result<[UInt8]?, any Error> {
        ready.wait()
        return piece.withLock { $0 }
    }
}
