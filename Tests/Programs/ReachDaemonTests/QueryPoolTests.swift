import Dispatch
import ReachCore
import ReachDaemon
import ReachLoop
import ReachKernel
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct QueryPoolTests {
    @Test func `one user's slow queries delay no other user's, and all get an answer`() throws {
        let loop = try EventLoop()
        let queries = QueryPool(on: loop)
        let gate = DispatchSemaphore(value: 0)
        let running = Atomic(0)
        let most = Atomic(0)
        var answers: [Int] = []
        for number in 0..<20 {
            queries.run(for: 1) { () throws(NetlinkError) in
                most.max(running.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
                gate.wait()
                running.subtract(1, ordering: .relaxed)
                return number
            } reply: { result in
                answers.append((try? result.get()) ?? -1)
                if answers.count == 20 { loop.stop() }
            }
        }
        var isAnswered = false
        queries.run(for: 2) { () throws(NetlinkError) -> Int in
            throw .lost
        } reply: { result in
            isAnswered = result == .failure(.lost)
            loop.stop()
        }
        loop.schedule(at: SystemClock.boot + .seconds(20)) { loop.stop() }
        loop.run()
        #expect(isAnswered && answers.isEmpty)
        for _ in 0..<20 { gate.signal() }
        loop.run()
        #expect(answers.sorted() == Array(0..<20))
        #expect(most.load(ordering: .relaxed) == 2)
    }
}
