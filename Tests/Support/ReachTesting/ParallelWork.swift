internal import ReachLoop
internal import Synchronization

/// Work that mostly waits, on threads of its own, so that it holds up neither the test's tasks nor other tests.
package enum ParallelWork {
    /// Runs `body` for each number below `count`, at most `width` at a time.
    ///
    /// - Returns: The results in the order of the numbers.
    package static func map<Value: Sendable>(
        _ count: Int, width: Int, within limit: Duration, _ body: @escaping @Sendable (Int) throws -> Value
    ) async throws -> [Result<Value, any Error>] {
        let log = EventLog<(Int, Result<Value, any Error>)>()
        let next = NextNumber()
        for _ in 0..<min(width, count) {
            BackgroundThread.start(named: "test-scene") {
                while let number = next.below(count) { log.append((number, Result { try body(number) })) }
            }
        }
        return try await log.wait(for: count, within: limit).sorted { $0.0 < $1.0 }.map(\.1)
    }
}

private final class NextNumber: Sendable {
    private let value = Mutex(0)

    func below(_ limit: Int) -> Int? {
        value.withLock { value in
            defer { value += 1 }
            return value < limit ? value : nil
        }
    }
}
