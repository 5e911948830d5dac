internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

/// Prints events as they arrive: JSON for programs, sentences for people.
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

    func write(_ event: StreamEvent, from source: StatusSource) {
        lines.source = source
        lines.write(event.state) { [text, source = self.source] stream in
            guard let text else { return stream.line(event.encoded(source: stream.source)) }
            let isFirst = event.change?.isInitial ?? false
            let note = isFirst ? source.note(isDaemon: stream.source == .daemon, text.style) : ""
            return Array((text.line(for: event) + note).utf8)
        }
    }

    /// Gives a slow reader a short time to read the pending lines.
    func finish() { lines.finish() }
}
