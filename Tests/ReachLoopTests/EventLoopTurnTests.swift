import Glibc
import ReachCore
import ReachLoop
import Testing

@Suite struct EventLoopTurnTests {
    @Test func `an event of a descriptor that was closed is not told to who has its number now`() throws {
        let loop = try EventLoop()
        let notes = Notes()
        let (pipes, silent) = ([try Pipe(), try Pipe()], try Pipe())
        for (index, pipe) in pipes.enumerated() {
            pipe.write("a")
            try loop.watch(pipe.reader, for: .readable) { _ in
                notes.lines.append("read")
                loop.unwatch(pipe.reader)
                // Both are ready in one batch: whoever is first puts another file in the place of the second.
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

    @Test func `long work leaves room for events between its pieces`() throws {
        let loop = try EventLoop()
        let notes = Notes()
        func work(_ left: Int) {
            loop.afterEvents {
                notes.lines.append("work")
                if left == 3 { loop.schedule(at: SystemClock.boot) { notes.lines.append("event") } }
                if left > 0 { work(left - 1) } else { loop.stop() }
            }
        }
        work(4)
        loop.runToTheEnd()
        #expect(notes.lines == ["work", "work", "event", "work", "work", "work"])
    }
}
