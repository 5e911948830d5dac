internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachEngine
internal import ReachLoop

/// Prints events as they come. A reader that is too slow loses lines, is told how many, and given the state anew.
final class EventPrinter {
    private let output: LineOutput
    private let isPretty: Bool
    private let text = EventText(style: .current)
    private var stream = EventStream(source: .kernel)
    private var latest: ReachabilityState?
    private var droppedCount = 0

    init(isPretty: Bool, loop: EventLoop) {
        self.isPretty = isPretty
        output = LineOutput(STDOUT_FILENO, on: loop)
        output.whenDrained = { [unowned self] in catchUp() }
        output.whenClosed = { number in
            if number != 0 { StandardOutput.fail(number) }
            loop.stop()
        }
    }

    func take(_ event: EngineEvent) {
        if case .change(let change) = event { latest = change.state }
        guard droppedCount == 0 else { return droppedCount += 1 }
        // A line that is not taken must not use up a number.
        var next = stream
        let line = isPretty ? Array(text.line(for: event).utf8) : next.line(for: event)
        guard !line.isEmpty else { return }
        if output.write(line) { stream = next } else { droppedCount = 1 }
    }

    /// Waits a little for a reader who is about to take what is pending.
    func finish() { output.flush(patienceMilliseconds: 200) }

    private func catchUp() {
        guard droppedCount > 0, let latest else { return }
        let count = droppedCount
        droppedCount = 0
        let now = SystemClock.now
        guard !isPretty else {
            _ = output.write(Array(text.dropped(count, now: latest).utf8))
            return
        }
        _ = output.write(stream.dropped(count: count, at: now))
        _ = output.write(stream.snapshot(latest, isInitial: false, cause: .resync, at: now))
    }
}

extension EventStream {
    fileprivate mutating func line(for event: EngineEvent) -> [UInt8] {
        switch event {
        case .change(let change): self.change(change)
        case .resync(let moment, let reason): resync(reason: reason, at: moment)
        case .wake(let moment, let slept): wake(slept: slept, at: moment)
        case .notice(let moment, let notice): self.notice(notice, at: moment)
        }
    }
}
