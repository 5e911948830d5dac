import Glibc
import ReachCore
import ReachLoop
import ReachTesting
import Testing

@Suite struct MailboxTests {
    private struct Letter: Equatable, Sendable {
        let sender: Int
        let number: Int
    }

    @Test func `work of twenty threads arrives complete, in the order of each thread`() throws {
        let (senders, each) = (20, 500)
        let loop = try EventLoop()
        let mailbox = loop.mailbox
        let log = EventLog<Letter>()
        let mine = pthread_self()
        let onLoop = EventLog<Bool>()
        for sender in 0..<senders {
            BackgroundThread.start(named: "sender-\(sender)") {
                for number in 0..<each {
                    mailbox.post { loop in
                        if number == 0 { onLoop.append(pthread_equal(pthread_self(), mine) != 0) }
                        log.append(Letter(sender: sender, number: number))
                        if log.values.count == senders * each { loop.stop() }
                    }
                }
            }
        }
        loop.runToTheEnd()
        let letters = log.values
        #expect(letters.count == senders * each)
        for sender in 0..<senders {
            #expect(letters.filter { $0.sender == sender }.map(\.number) == Array(0..<each))
        }
        #expect(onLoop.values == Array(repeating: true, count: senders))
    }

    @Test func `work posted by work runs after it, not within it`() throws {
        let loop = try EventLoop()
        let log = EventLog<String>()
        loop.mailbox.post { loop in
            loop.mailbox.post { loop in
                log.append("inner")
                loop.stop()
            }
            log.append("outer")
        }
        loop.runToTheEnd()
        #expect(log.values == ["outer", "inner"])
    }

    @Test func `a sealed mailbox refuses work, and drops pending work`() throws {
        let loop = try EventLoop()
        let log = EventLog<String>()
        #expect(loop.mailbox.post { _ in log.append("dropped") })
        loop.mailbox.seal()
        #expect(!loop.mailbox.post { _ in log.append("refused") })
        loop.schedule(at: SystemClock.boot + .milliseconds(1)) { loop.stop() }
        loop.runToTheEnd()
        #expect(log.values == [])
    }

    @Test func `a mailbox outlives its loop`() throws {
        var loop: EventLoop? = try EventLoop()
        let mailbox = try #require(loop?.mailbox)
        loop = nil
        #expect(mailbox.post { _ in })
    }
}
