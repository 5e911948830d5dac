internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop

/// Prints events as they come: JSON for programs, sentences for people.
final class EventPrinter {
    private let lines: EventLines
    /// `nil` for JSON.
    private let text: EventText?
    private let source: DaemonOptions.Source

    init(isPretty: Bool, source: DaemonOptions.Source, loop: EventLoop) {
        let text = isPretty ? EventText(style: .current) : nil
        self.text = text
        self.source = source
        lines = EventLines(STDOUT_FILENO, on: loop) { count, state, stream in
            guard let text else { return EventLines.snapshotAfterLoss(count, state, &stream) }
            return Array(text.dropped(count, now: state).utf8)
        } onClose: { number in
            if number != 0 { StandardOutput.fail(number) }
            loop.stop()
        }
    }

    func take(_ event: TargetWatch.Event) {
        let isDaemon = if case .daemon = event { true } else { false }
        lines.source = isDaemon ? .daemon : .kernel
        lines.write(event.state) { [text, source] stream in
            guard let text else { return stream.line(Self.encode(event)) }
            let note = event.isFirst ? source.note(isDaemon: isDaemon, text.style) : ""
            return Array((text.line(for: event) + note).utf8)
        }
    }

    /// Waits a little for a reader who is about to take what is pending.
    func finish() { lines.finish() }

    private static func encode(_ event: TargetWatch.Event) -> EncodedEvent {
        switch event {
        case .kernel(let event):
            switch event {
            case .change(let change): .change(change, source: .kernel)
            case .resync(let moment, let reason): .resync(reason: reason, at: moment)
            case .wake(let moment, let slept): .wake(slept: slept, at: moment)
            case .notice(let moment, let notice): .notice(notice, at: moment)
            }
        case .daemon(let event): EncodedEvent(event)
        }
    }
}

extension TargetWatch.Event {
    /// It tells the state with which the stream begins.
    fileprivate var isFirst: Bool {
        switch self {
        case .kernel(.change(let change)), .daemon(.change(let change)): change.isInitial
        default: false
        }
    }
}
