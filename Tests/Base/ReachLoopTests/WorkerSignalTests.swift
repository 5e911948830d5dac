import ReachCore
import ReachLoop
import ReachTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct WorkerSignalTests {
    /// Carries a signal, which cannot be copied, to other threads.
    private final class Owner: Sendable {
        let signal: WorkerSignal
        init() throws { signal = try WorkerSignal() }
        func hasEnded(_ patience: Duration? = nil) -> Bool { signal.waitUntilFinished(patience) }
    }

    @Test func `a signal before the wait ends it, and several count once`() throws {
        let owner = try Owner()
        owner.signal.signal()
        owner.signal.signal()
        owner.signal.wait()
        let began = SystemClock.boot
        owner.signal.wait(within: .milliseconds(30))
        #expect(SystemClock.boot - began >= .milliseconds(30))
    }

    @Test func `a wait with no time left checks for a signal and returns at once`() throws {
        let owner = try Owner()
        let began = SystemClock.boot
        owner.signal.wait(within: .seconds(-1))
        #expect(SystemClock.boot - began < .seconds(5))
        owner.signal.signal()
        owner.signal.wait(within: .zero)
    }

    @Test func `any thread can wait for the end, with a limit, and the end is permanent`() throws {
        let owner = try Owner()
        #expect(!owner.hasEnded(.milliseconds(10)))
        BackgroundThread.start(named: "test-worker") {
            owner.signal.wait()
            owner.signal.markFinished()
        }
        #expect(!owner.hasEnded(.zero))
        owner.signal.signal()
        #expect(owner.hasEnded())
        #expect(owner.hasEnded(.zero))
    }
}
