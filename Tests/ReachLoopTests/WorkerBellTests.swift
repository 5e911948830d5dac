import ReachCore
import ReachLoop
import ReachTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct WorkerBellTests {
    /// A bell crosses threads in its owner's hands.
    private final class Owner: Sendable {
        let bell: WorkerBell
        init() throws { bell = try WorkerBell() }
        func hasEnded(_ patience: Duration? = nil) -> Bool { bell.waitUntilFinished(patience) }
    }

    @Test func `a ring before the wait ends it, and several are one`() throws {
        let owner = try Owner()
        owner.bell.ring()
        owner.bell.ring()
        owner.bell.wait()
        let began = SystemClock.boot
        owner.bell.wait(within: .milliseconds(30))
        #expect(SystemClock.boot - began >= .milliseconds(30))
    }

    @Test func `a wait with no time left looks, and does not wait`() throws {
        let owner = try Owner()
        let began = SystemClock.boot
        owner.bell.wait(within: .seconds(-1))
        #expect(SystemClock.boot - began < .seconds(5))
        owner.bell.ring()
        owner.bell.wait(within: .zero)
    }

    @Test func `the end is waited for from any thread, with patience, and stays`() throws {
        let owner = try Owner()
        #expect(!owner.hasEnded(.milliseconds(10)))
        BackgroundThread.start(named: "test-worker") {
            owner.bell.wait()
            owner.bell.markFinished()
        }
        #expect(!owner.hasEnded(.zero))
        owner.bell.ring()
        #expect(owner.hasEnded())
        #expect(owner.hasEnded(.zero))
    }
}
