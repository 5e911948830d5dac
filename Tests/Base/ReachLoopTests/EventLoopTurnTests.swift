import Glibc
import ReachCore
import ReachLoop
import Testing

@Suite struct EventLoopTurnTests {
    @Test func `an event of a closed descriptor is not delivered to the one that has its number now`() throws {
        let loop = try EventLoop()
        let notes = Notes()
        let (pipes, silent) = ([try Pipe(), try Pipe()], try Pipe())
        for (index, pipe) in pipes.enumerated() {
            pipe.write("a")
            try loop.watch(pipe.reader, for: .readable) { _ in
                notes.lines.append("read")
                loop.unwatch(pipe.reader)
                // Both are ready in one batch: the first handler replaces the descriptor of the second.
                let other = pipes[1 - index].reader
                loop.unwatch(other)
                dup2(silent.reader, other)
                try? loop.watch(other, for: .readable) { _ in notes.lines.append("mistaken") }
                loop.schedule(at: SystemClock.boot + .milliseconds(20)) { loop.stop() }
            }
        }
        loop.runToTheEnd()
        #expect(notes.lines == ["read"])
    }

    @Test func `events are handled between the pieces of long work`() throws {
        let loop = try EventLoop()
        let (notes, pipe) = (Notes(), try Pipe())
        try loop.watch(pipe.reader, for: .readable) { _ in
            notes.lines.append("event")
            loop.unwatch(pipe.reader)
        }
        func work(_ left: Int) {
            loop.afterEvents {
                notes.lines.append("work")
                if left == 3 { pipe.write("a") }
                if left > 0 { work(left - 1) } else { loop.stop() }
            }
        }
        work(4)
        loop.runToTheEnd()
        #expect(notes.lines == ["work", "work", "event", "work", "work", "work"])
    }
}

extension EventLoopTurnTests {
    @Test func `a turn runs a bounded amount of deferred work, in order`() throws {
        let loop = try EventLoop()
        let (notes, pipe, limit) = (Notes(), try Pipe(), EventLoop.deferredPerTurn)
        try loop.watch(pipe.reader, for: .readable) { _ in
            notes.lines.append("event")
            loop.unwatch(pipe.reader)
        }
        for number in 0..<2 * limit {
            loop.afterEvents {
                if number == 0 { pipe.write("a") }
                notes.lines.append("\(number)")
                if number == 2 * limit - 1 { loop.stop() }
            }
        }
        loop.runToTheEnd()
        #expect(notes.lines.firstIndex(of: "event") == limit)
        #expect(notes.lines.filter { $0 != "event" } == (0..<2 * limit).map(String.init))
    }

    @Test func `a bounded number of steps runs before the next poll, also of those that a step adds`() throws {
        let loop = try EventLoop()
        let (notes, pipe, limit) = (Notes(), try Pipe(), EventLoop.deferredPerTurn)
        try loop.watch(pipe.reader, for: .readable) { _ in
            notes.lines.append("event")
            loop.unwatch(pipe.reader)
        }
        func step(_ left: Int) {
            loop.beforeNextPoll {
                notes.lines.append("step")
                if left > 0 { step(left - 1) } else { loop.stop() }
            }
        }
        loop.afterEvents {
            pipe.write("a")
            step(2 * limit)
            notes.lines.append("deferred")
        }
        loop.runToTheEnd()
        #expect(notes.lines.first == "deferred" && notes.lines.firstIndex(of: "event") == limit + 1)
        #expect(notes.lines.count { $0 == "step" } == 2 * limit + 1)
    }

    @Test func `work before sleep comes behind events and deferred work`() throws {
        let loop = try EventLoop()
        let (notes, pipe) = (Notes(), try Pipe())
        try loop.watch(pipe.reader, for: .readable) { _ in
            notes.lines.append("event")
            loop.unwatch(pipe.reader)
            loop.afterEvents { notes.lines.append("deferred") }
        }
        pipe.write("a")
        loop.beforeSleep {
            notes.lines.append("last")
            loop.stop()
        }
        loop.runToTheEnd()
        #expect(notes.lines == ["event", "deferred", "last"])
    }

    @Test func `a descriptor that is always ready delays work before sleep for some turns only`() throws {
        let loop = try EventLoop()
        let (notes, pipe) = (Notes(), try Pipe())
        try loop.watch(pipe.reader, for: .readable) { _ in
            notes.lines.append("event")
            if notes.lines.count == 100 { loop.stop() }
        }
        pipe.write("a")
        loop.beforeSleep {
            notes.lines.append("last")
            loop.stop()
        }
        loop.runToTheEnd()
        #expect(2...10 ~= notes.lines.count { $0 == "event" } && notes.lines.contains("last"))
    }

    @Test func `a debug build stops when another thread uses a running loop`() async {
        await #expect(processExitsWith: .failure) {
            let loop = try Carried(loop: EventLoop())
            BackgroundThread.start(named: "test-loop") {
                loop.loop.schedule(at: SystemClock.boot) { _ = loop.loop.schedule(at: SystemClock.boot) {} }
                loop.loop.afterEvents { loop.started.signal() }
                loop.loop.run()
            }
            loop.started.wait(within: .seconds(10))
            loop.loop.stop()
            loop.loop.cancel(1)
            exit(0)
        }
    }
}

/// Carries a loop to another thread, which breaks the rule that the test is about.
private final class Carried: @unchecked Sendable {
    let loop: EventLoop
    let started: WorkerSignal

    init(loop: EventLoop) throws {
        self.loop = loop
        started = try WorkerSignal()
    }
}
