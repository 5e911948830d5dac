import Glibc
import ReachCore
import ReachLoop
import ReachTesting
import Testing

@Suite struct EventLoopTests {
    @Test func `timers fire in the order of their deadlines, and those of the past at once`() throws {
        let loop = try EventLoop()
        let notes = Notes()
        let start = SystemClock.boot
        loop.schedule(at: start + .milliseconds(9)) {
            notes.lines.append("last")
            loop.stop()
        }
        loop.schedule(at: start + .milliseconds(4)) { notes.lines.append("second") }
        loop.schedule(at: start + .seconds(-100)) { notes.lines.append("first") }
        loop.schedule(at: start + .milliseconds(4)) { notes.lines.append("third") }
        loop.schedule(at: BootTime(nanoseconds: .max)) { notes.lines.append("never") }
        loop.schedule(at: BootTime(nanoseconds: .min)) { notes.lines.append("zeroth") }
        loop.runToTheEnd()
        #expect(notes.lines == ["zeroth", "first", "second", "third", "last"])
        #expect(SystemClock.boot >= start + .milliseconds(9), "no timer fires early")
    }

    @Test func `timers with a tolerance fire together with an earlier one, and alone at their deadlines`() throws {
        let loop = try EventLoop()
        let notes = Notes()
        let start = SystemClock.boot
        var turns: [UInt64] = []
        for (milliseconds, tolerance) in [(20, 0), (60, 50), (40, 50), (150, 5)] as [(Int64, Int64)] {
            loop.schedule(at: start + .milliseconds(milliseconds), tolerance: .milliseconds(tolerance)) {
                notes.lines.append("\(milliseconds)")
                turns.append(loop.turn)
                if milliseconds == 150 { loop.stop() }
            }
        }
        loop.runToTheEnd()
        #expect(notes.lines == ["20", "40", "60", "150"])
        #expect(turns[0] == turns[2] && turns[2] < turns[3])
        #expect(SystemClock.boot >= start + .milliseconds(150), "no other timer was near")
    }

    @Test func `a loop whose last timer has fired sleeps, and wakes for the next one`() throws {
        let loop = try EventLoop()
        let pipe = try Pipe()
        var turns: UInt64 = 0
        try loop.watch(pipe.reader, for: .readable) { _ in
            turns = loop.turn
            _ = pipe.read()
            loop.schedule(at: SystemClock.boot + .milliseconds(1)) { loop.stop() }
        }
        loop.schedule(at: SystemClock.boot) {}
        // Long enough for thousands of turns of a loop that does not sleep.
        let descriptor = pipe.writer
        BackgroundThread.start(named: "test-writer") {
            usleep(20_000)
            _ = Glibc.write(descriptor, "x", 1)
        }
        loop.runToTheEnd()
        #expect((1...4).contains(turns), "its descriptor stays ready until it is set again")
    }

    @Test func `a cancelled timer does not fire, even if it is due at the same moment`() throws {
        let loop = try EventLoop()
        let notes = Notes()
        let now = SystemClock.boot
        let early = loop.schedule(at: now + .milliseconds(1)) { notes.lines.append("cancelled before") }
        loop.cancel(early)
        loop.cancel(early)
        var second: TimerQueue.ID?
        loop.schedule(at: now) {
            notes.lines.append("first")
            if let second { loop.cancel(second) }
        }
        second = loop.schedule(at: now) { notes.lines.append("cancelled by the first") }
        loop.schedule(at: now + .milliseconds(2)) { loop.stop() }
        loop.runToTheEnd()
        #expect(notes.lines == ["first"])
    }

    @Test func `a timer may set other timers`() throws {
        let loop = try EventLoop()
        let notes = Notes()
        func again(_ number: Int) {
            loop.schedule(at: SystemClock.boot) {
                notes.lines.append("\(number)")
                if number == 5 { loop.stop() } else { again(number + 1) }
            }
        }
        again(1)
        loop.runToTheEnd()
        #expect(notes.lines == ["1", "2", "3", "4", "5"])
    }

    @Test func `a readable descriptor is reported until it is no longer watched`() throws {
        let loop = try EventLoop()
        let notes = Notes()
        let pipe = try Pipe()
        try loop.watch(pipe.reader, for: .readable) { readiness in
            #expect(readiness.contains(.readable))
            notes.lines.append(String(decoding: pipe.read(upTo: 1), as: UTF8.self))
            guard notes.lines.count == 2 else { return }
            loop.unwatch(pipe.reader)
            loop.unwatch(pipe.reader)
            loop.schedule(at: SystemClock.boot + .milliseconds(1)) { loop.stop() }
        }
        pipe.write("abc")
        loop.runToTheEnd()
        #expect(notes.lines == ["a", "b"])
        #expect(pipe.read() == Array("c".utf8))
    }

    @Test func `the readiness to wait for can be changed, and can be empty for a while`() throws {
        let loop = try EventLoop()
        let notes = Notes()
        let pipe = try Pipe()
        try loop.watch(pipe.reader, for: []) { _ in
            notes.lines.append("read")
            loop.stop()
        }
        pipe.write("a")
        loop.schedule(at: SystemClock.boot + .milliseconds(1)) {
            notes.lines.append("paused until now")
            #expect(throws: Never.self) { try loop.change(pipe.reader, to: .readable) }
        }
        loop.runToTheEnd()
        #expect(notes.lines == ["paused until now", "read"])
    }

    @Test func `a descriptor that fails is reported, even without any interest`() throws {
        let loop = try EventLoop()
        let notes = Notes()
        let pipe = try Pipe()
        try loop.watch(pipe.writer, for: []) { readiness in
            notes.lines.append(readiness.isDisjoint(with: .failed) ? "?" : "failed")
            loop.unwatch(pipe.writer)
            loop.stop()
        }
        pipe.closeReader()
        loop.runToTheEnd()
        #expect(notes.lines == ["failed"])
    }

    @Test func `a stopped loop calls no more handlers, and can run again`() throws {
        let loop = try EventLoop()
        let notes = Notes()
        let (one, other) = (try Pipe(), try Pipe())
        for pipe in [one, other] {
            try loop.watch(pipe.reader, for: .readable) { _ in
                notes.lines.append("read")
                loop.unwatch(pipe.reader)
                loop.stop()
            }
            pipe.write("a")
        }
        loop.runToTheEnd()
        #expect(notes.lines == ["read"])
        loop.runToTheEnd()
        #expect(notes.lines == ["read", "read"])
    }

    @Test func `a descriptor that cannot be watched is refused with the reason`() throws {
        let loop = try EventLoop()
        #expect(throws: SystemError(call: "epoll_ctl", number: EBADF)) { try loop.watch(-1, for: .readable) { _ in } }
        let pipe = try Pipe()
        #expect(throws: SystemError(call: "epoll_ctl", number: ENOENT)) { try loop.change(pipe.reader, to: .readable) }
    }
}
