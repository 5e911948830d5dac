import CReachLinux
import Glibc
import ReachTesting
import Testing

@testable import ReachLoop

@Suite(.timeLimit(.minutes(1))) struct SerialThreadTests {
    @Test(arguments: [true, false]) func `work is done in the order in which it was given`(lasting: Bool) async throws {
        let (thread, done) = (SerialThread(named: "test", lasting: lasting), EventLog<Int>())
        for number in 0..<1000 { thread.run { done.append(number) } }
        #expect(try await done.wait(for: 1000) == Array(0..<1000))
    }

    @Test func `a lasting thread does all its work, and ends with its owner`() async throws {
        var thread: SerialThread? = SerialThread(named: "test", lasting: true)
        let ran = EventLog<CInt>()
        for count in 1...20 {
            thread?.run { ran.append(reach_thread_id()) }
            try await ran.wait(for: count)
        }
        let number = try #require(ran.values.first)
        #expect(Set(ran.values).count == 1)
        thread = nil
        while access("/proc/self/task/\(number)", F_OK) == 0 { await Task.yield() }
    }
}
