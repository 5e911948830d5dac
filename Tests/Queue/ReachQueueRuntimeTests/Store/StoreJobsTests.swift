import Glibc
import ReachLoop
import ReachQueue
import ReachTesting
import Testing

@testable import ReachQueueRuntime

@Suite struct StoreJobsTests {
    @Test func `what is to be written goes before what is to be read, and users read in turn`() throws {
        let jobs = try StoreJobs()
        let read = EventLog<UInt32>()
        for _ in 0..<100 { jobs.put({ _ in read.append(1) }, for: 1) }
        jobs.put({ _ in read.append(2) }, for: 2)
        var written: [Int] = []
        for number in 0..<4 {
            jobs.put(.write(StoreTransaction(number: UInt64(number), changes: [], mayBeRefused: true)))
            let share = jobs.next(within: nil)
            written.append(share.changes.count)
            let reading = try #require(share.reading)
            reading.turn(nil)
            jobs.charge(.milliseconds(1), to: reading.user)
        }
        #expect(written == [1, 1, 1, 1])
        // The second is not behind the hundred of the first.
        #expect(read.values.contains(2))
    }

    @Test func `what does not wake the thread waits for what does, or for the call`() throws {
        let jobs = try StoreJobs()
        func put(_ number: UInt64, wakes: Bool) {
            jobs.put(.write(StoreTransaction(number: number, changes: [], mayBeRefused: true)), wakes: wakes)
        }
        // The thread sleeps: as long as it is not woken it looks for nothing.
        let taken = EventLog<Int>()
        BackgroundThread.start(named: "test-jobs") {
            while true {
                let share = jobs.next(within: nil)
                if !share.changes.isEmpty { taken.append(share.changes.count) }
                if share.isEnd { break }
            }
            jobs.markFinished()
        }
        put(1, wakes: true)
        while taken.values.isEmpty { sched_yield() }
        for wake in [{ put(9, wakes: true) }, { jobs.wake() }, { jobs.put({ _ in }, for: 1) }] {
            let before = taken.values.reduce(0, +)
            put(2, wakes: false)
            wake()
            while taken.values.reduce(0, +) == before { sched_yield() }
        }
        // Nothing is there to wake it for.
        jobs.wake()
        jobs.end()
        #expect(jobs.waitUntilFinished(.seconds(10)))
        #expect(taken.values.reduce(0, +) == 5)
    }

    @Test func `the end comes when all is written and read`() throws {
        let jobs = try StoreJobs()
        for _ in 0..<3 { jobs.put({ _ in }, for: 1) }
        jobs.end()
        var shares: [StoreJobs.Share] = []
        repeat { shares.append(jobs.next(within: nil)) } while shares.last?.isEnd == false && shares.count < 10
        #expect(shares.map { $0.reading != nil } == [true, true, true] && shares.map(\.isEnd) == [false, false, true])
    }

    @Test func `what is asked when nothing is read any more is answered so`() throws {
        let jobs = try StoreJobs()
        let answers = EventLog<Bool>()
        jobs.put({ answers.append($0 == nil) }, for: 1)
        jobs.endReading()
        jobs.put({ answers.append($0 == nil) }, for: 2)
        #expect(answers.values == [true, true])
    }
}
