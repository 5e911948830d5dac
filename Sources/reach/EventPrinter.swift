internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachEngine
internal import ReachLoop

/// Prints events as they come: JSON for programs, sentences for people.
final class EventPrinter {
    private let lines: EventLines
    /// `nil` for JSON.
    private let text: EventText?

    init(isPretty: Bool, source: StatusSource, loop: EventLoop) {
        let text = isPretty ? EventText(style: .current) : nil
        self.text = text
        lines = EventLines(STDOUT_FILENO, on: loop, source: source) { count, state, stream in
            guard let text else { return EventLines.snapshotAfterLoss(count, state, &stream) }
            return Array(text.dropped(count, now: state).utf8)
        } whenClosed: { number in
            if number != 0 { StandardOutput.fail(number) }
            loop.stop()
        }
    }

    func take(_ event: EngineEvent) {
        let state: ReachabilityState? = if case .change(let change) = event { change.state } else { nil }
        lines.write(state) { [text] stream in
            if let text { return Array(text.line(for: event).utf8) }
            switch event {
            case .change(let change): return stream.change(change)
            case .resync(let moment, let reason): return stream.resync(reason: reason, at: moment)
            case .wake(let moment, let slept): return stream.wake(slept: slept, at: moment)
            case .notice(let moment, let notice): return stream.notice(notice, at: moment)
            }
        }
    }

    /// Waits a little for a reader who is about to take what is pending.
    func finish() { lines.finish() }
}
