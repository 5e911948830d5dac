internal import Synchronization

/// The bytes of a body between the task that produces them and the transfer that sends them. The producer waits while
/// too many have not been sent. For one producer and one reader at a time.
package final class BodyPipe: Sendable {
    package enum Piece {
        /// The number of bytes read, at least one.
        case bytes(Int)
        /// There are none yet.
        case wait
        case end
        case failed(any Error)
    }

    private struct State {
        var bytes: [UInt8] = []
        /// The first byte that was not read.
        var first = 0
        var hasBegun = false
        var isAbandoned = false
        var end: Result<Void, any Error>?
        var producer: CheckedContinuation<Void, Never>?
        var reader: (@Sendable () -> Void)?

        var unread: Int { bytes.count - first }
    }

    /// The producer waits while this many bytes were not read.
    private let capacity: Int
    private let state = Mutex(State())

    package init(capacity: Int = 256 << 10) { self.capacity = capacity }

    // MARK: - For the producer

    /// Writes bytes, and waits until there is room for more.
    ///
    /// - Returns: `false` where no more is wanted.
    package func write(_ bytes: [UInt8]) async -> Bool {
        wakeReader { state in if !state.isAbandoned { state.bytes += bytes } }
        await withCheckedContinuation { continuation in
            let hasRoom = state.withLock { state in
                if state.isAbandoned || state.unread < capacity { return true }
                state.producer = continuation
                return false
            }
            if hasRoom { continuation.resume() }
        }
        return state.withLock { !$0.isAbandoned }
    }

    /// Ends the body after what was written, or with an error in place of its rest.
    package func finish(_ end: Result<Void, any Error>) {
        wakeReader { state in if state.end == nil { state.end = end } }
    }

    private func wakeReader(_ change: (inout State) -> Void) {
        let reader = state.withLock { state in
            change(&state)
            defer { state.reader = nil }
            return state.reader
        }
        reader?()
    }

    // MARK: - For the reader

    /// Whether bytes were read, so that the first are no longer here.
    package var hasBegun: Bool { state.withLock { $0.hasBegun } }

    /// Copies the next bytes into a buffer.
    ///
    /// - Parameter whenReady: Called once, on any thread, after it returned `wait`.
    package func read(
        into buffer: UnsafeMutableRawBufferPointer, whenReady: @escaping @Sendable () -> Void
    ) -> Piece {
        let (piece, producer): (Piece, CheckedContinuation<Void, Never>?) = state.withLock { state in
            if case .failure(let error) = state.end { return (.failed(error), nil) }
            guard state.unread > 0 else {
                if state.end != nil { return (.end, nil) }
                state.reader = whenReady
                return (.wait, nil)
            }
            let count = min(buffer.count, state.unread)
            buffer.copyBytes(from: state.bytes[state.first..<state.first + count])
            state.first += count
            state.hasBegun = true
            // What was read goes before it is as much as what waits.
            if state.first == state.bytes.count || state.first >= capacity {
                state.bytes.removeFirst(state.first)
                state.first = 0
            }
            guard state.unread <= capacity / 2 else { return (.bytes(count), nil) }
            defer { state.producer = nil }
            return (.bytes(count), state.producer)
        }
        producer?.resume()
        return piece
    }

    /// Reads up to the end.
    package func bytes() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let piece: Piece = await withCheckedContinuation { continuation in
                let piece = buffer.withUnsafeMutableBytes { read(into: $0) { continuation.resume(returning: .wait) } }
                if case .wait = piece { return }
                continuation.resume(returning: piece)
            }
            switch piece {
            case .bytes(let count): bytes += buffer.prefix(count)
            case .wait: continue
            case .end: return bytes
            case .failed(let error): throw error
            }
        }
    }

    /// Wants no more bytes. The reader must not wait.
    package func abandon() {
        let producer = state.withLock { state in
            state.isAbandoned = true
            state.bytes = []
            state.first = 0
            defer { state.producer = nil }
            return state.producer
        }
        producer?.resume()
    }
}
