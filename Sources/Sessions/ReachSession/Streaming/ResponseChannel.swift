internal import ReachSerialization
internal import Synchronization

/// The pieces of one answer, between the session's thread and the reader. Several readers would share the pieces.
final class ResponseChannel: Sendable {
    typealias End = Result<RequestResponse, RequestError>

    private struct State {
        var head: WebResponse?
        var pieces: [[UInt8]] = []
        /// The first piece that was not read.
        var first = 0
        var heldBytes = 0
        var hasDelivered = false
        var isWaiting = false
        var end: End?
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    /// The connection waits while this many bytes are not read. One turn of the loop may bring half a mebibyte more.
    private let capacity: Int

    init(capacity: Int = 256 << 10) { self.capacity = capacity }

    // MARK: - On the session's thread

    /// Whether the body of an answer has begun to arrive, so that the request cannot be repeated.
    var hasBegun: Bool { state.withLock { $0.hasDelivered } }

    func begin(_ head: WebResponse) {
        wake { $0.head = head }
    }

    func append(_ bytes: [UInt8]) {
        wake { state in
            state.pieces.append(bytes)
            state.heldBytes += bytes.count
            state.hasDelivered = true
        }
    }

    /// Whether the connection may read more. If not, the reader asks for more once it has read half.
    var hasRoom: Bool {
        state.withLock { state in
            state.isWaiting = state.heldBytes >= capacity
            return !state.isWaiting
        }
    }

    func finish(_ end: End) {
        wake { state in
            if state.end == nil { state.end = end }
        }
    }

    private func wake(_ change: (inout State) -> Void) {
        let waiters = state.withLock { state in
            change(&state)
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    // MARK: - For the reader

    /// Waits for the head.
    ///
    /// - Throws: The error of a request that ends without an accepted answer.
    func head() async throws(RequestError) -> WebResponse {
        while true {
            let found: Result<WebResponse, RequestError>? = state.withLock { state in
                state.head.map(Result.success) ?? state.end.map { $0.map { WebResponse(url: $0.url, head: $0.head) } }
            }
            if let found { return try found.get() }
            await change { $0.head != nil || $0.end != nil }
        }
    }

    /// Waits for the next piece.
    ///
    /// - Returns: The piece, and whether the connection waits for room that there is now; `nil` at the end.
    func next() async throws(RequestError) -> (bytes: [UInt8], makesRoom: Bool)? {
        while true {
            let piece = state.withLock { Self.removeFirst(&$0, capacity) }
            if let piece { return piece }
            if let end = state.withLock({ $0.first == $0.pieces.count ? $0.end : nil }) {
                _ = try end.get()
                return nil
            }
            await change { $0.first < $0.pieces.count || $0.end != nil }
        }
    }

    private static func removeFirst(_ state: inout State, _ capacity: Int) -> (bytes: [UInt8], makesRoom: Bool)? {
        guard state.first < state.pieces.count else { return nil }
        let bytes = state.pieces[state.first]
        state.pieces[state.first] = []
        state.first += 1
        if state.first == state.pieces.count || state.first >= 1024 {
            state.pieces.removeFirst(state.first)
            state.first = 0
        }
        state.heldBytes -= bytes.count
        let makesRoom = state.isWaiting && state.heldBytes <= capacity / 2
        if makesRoom { state.isWaiting = false }
        return (bytes, makesRoom)
    }

    private func change(_ hasCome: (State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if hasCome(state) { return true }
                state.waiters.append(continuation)
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}
