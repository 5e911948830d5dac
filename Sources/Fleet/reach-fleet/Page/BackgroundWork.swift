internal import Dispatch
internal import ReachFleetLink
internal import ReachLoop
internal import Synchronization

/// Work on a thread of its own, for whose result somebody waits.
final class BackgroundWork<Value: Sendable>: Sendable {
    private let slot = Mutex<Result<Value, NATSError>?>(nil)
    private let isDone = DispatchSemaphore(value: 0)

    /// - Parameter name: The thread's name.
    init(named name: String, _ work: @escaping @Sendable () throws(NATSError) -> Value) {
        BackgroundThread.start(named: name) { [self] in
            let result: Result<Value, NATSError>
            do throws(NATSError) {
                result = .success(try work())
            } catch {
                result = .failure(error)
            }
            slot.withLock { $0 = result }
            isDone.signal()
        }
    }

    /// Waits for the result, which it hands over once.
    func result() throws(NATSError) -> Value {
        isDone.wait()
        let result = slot.withLock { slot in
            defer { slot = nil }
            return slot
        }
        guard let result else { throw NATSError(.failed, "the result was handed over before") }
        return try result.get()
    }
}
