internal import Glibc
internal import Synchronization

/// Collects values from callbacks on any thread, and lets a test wait for them with a limit.
package final class EventLog<Value: Sendable>: Sendable {
    /// The expected values did not arrive in time. Shows those that did.
    package struct Timeout: Error, CustomStringConvertible {
        package let limit: Duration
        package let values: [Value]

        package var description: String { "not within \(limit); there were \(values.count): \(values)" }
    }

    package typealias Condition = @Sendable ([Value]) -> Bool

    private struct Waiter {
        let condition: Condition
        let continuation: CheckedContinuation<[Value], any Error>
        let limit: Task<Void, Never>
    }

    private struct State {
        var values: [Value] = []
        var waiters: [Int: Waiter] = [:]
        var lastID = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// All values so far, in order.
    package var values: [Value] { state.withLock { $0.values } }

    package func append(_ value: Value) {
        let (values, served) = state.withLock { state in
            state.values.append(value)
            let served = state.waiters.filter { $0.value.condition(state.values) }
            served.keys.forEach { state.waiters[$0] = nil }
            return (state.values, served.values)
        }
        for waiter in served {
            waiter.limit.cancel()
            waiter.continuation.resume(returning: values)
        }
    }

    /// Waits until the log has at least `count` values.
    ///
    /// - Returns: All values so far.
    @discardableResult
    package func wait(for count: Int, within limit: Duration = .seconds(10)) async throws -> [Value] {
        try await wait(within: limit) { $0.count >= count }
    }

    /// Waits for a value that matches.
    ///
    /// - Returns: The first such value.
    @discardableResult
    package func wait(
        within limit: Duration = .seconds(10), forOneThat matches: @escaping @Sendable (Value) -> Bool
    ) async throws -> Value {
        let values = try await wait(within: limit) { $0.contains(where: matches) }
        guard let value = values.first(where: matches) else { throw Timeout(limit: limit, values: values) }
        return value
    }

    /// Waits until `condition` holds for the values so far. The log calls it under its lock.
    ///
    /// - Throws: ``Timeout``.
    @discardableResult
    package func wait(
        within limit: Duration = .seconds(10), until condition: @escaping Condition
    ) async throws -> [Value] {
        try await withCheckedThrowingContinuation { continuation in
            let values: [Value]? = state.withLock { state in
                if condition(state.values) { return state.values }
                state.lastID += 1
                let id = state.lastID
                let timer = Task<Void, Never> { [weak self] in
                    try? await Task.sleep(for: limit)
                    self?.expire(id, after: limit)
                }
                state.waiters[id] = Waiter(condition: condition, continuation: continuation, limit: timer)
                return nil
            }
            if let values { continuation.resume(returning: values) }
        }
    }

    private func expire(_ id: Int, after limit: Duration) {
        let (waiter, values) = state.withLock { ($0.waiters.removeValue(forKey: id), $0.values) }
        waiter?.continuation.resume(throwing: Timeout(limit: limit, values: values))
    }
}

/// Lets one thread wait for another without Swift concurrency, as for the start of a server.
package final class ThreadGate: Sendable {
    private let isOpen = Atomic(false)

    package init() {}

    package func open() { isOpen.store(true, ordering: .releasing) }

    package func wait() {
        while !isOpen.load(ordering: .acquiring) { usleep(200) }
    }
}
