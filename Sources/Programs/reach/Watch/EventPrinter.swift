internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

/// Prints events as they arrive: JSON for programs, sentences for people, or lines in the user's form.
final class EventPrinter {
    private enum Form {
        case json
        case text(EventText)
        case template(StatusTemplate)
    }

    private let lines: EventLines
    private let form: Form
    private let source: DaemonOptions.Source
    /// What people see of changes; `nil` for programs, which see each of them.
    private var joined: JoinedChanges?
    /// The last line in the user's form.
    private var lastLine: String?

    init(_ form: WatchQuery.Form, source: DaemonOptions.Source, loop: EventLoop) {
        let form: Form =
            switch form {
            case .json: .json
            case .pretty: .text(EventText(style: .current))
            case .byOutput: StandardOutput.isTerminal ? .text(EventText(style: .current)) : .json
            case .lines(let template): .template(template)
            }
        self.form = form
        self.source = source
        lines = EventLines(STDOUT_FILENO, on: loop) { count, state, stream in
            switch form {
            case .json: EventLines.snapshotAfterLoss(count, state, &stream)
            case .text(let text): Self.lines(text.dropped(count, now: state))
            case .template(let template): Array(template.line(for: state, from: stream.source).utf8)
            }
        } onClose: { number in
            if number != 0 { StandardOutput.fail(number) }
            loop.stop()
        }
        if case .text(let text) = form {
            joined = JoinedChanges(on: loop) { [unowned self] in write($0, text) }
        }
    }

    func write(_ event: StreamEvent, from source: StatusSource) {
        lines.source = source
        switch form {
        case .json: lines.write(event.state) { $0.line(event.encoded(source: $0.source)) }
        case .text(let text):
            joined?.add(event) { event in lines.write(event.state) { _ in Self.lines(text.line(for: event)) } }
        case .template(let template):
            guard let state = event.state else { return }
            let line = template.line(for: state, from: source)
            guard line != lastLine else { return }
            lastLine = line
            lines.write(state) { _ in Array(line.utf8) }
        }
    }

    private func write(_ joined: JoinedChange, _ text: EventText) {
        lines.write(joined.change.state) { [source] stream in
            let isFirst = joined.change.isInitial
            let note = isFirst ? source.note(isDaemon: stream.source == .daemon, text.style) : ""
            return Self.lines(text.line(for: joined) + note)
        }
    }

    private static func lines(_ text: String) -> [UInt8] { Array(StandardOutput.fitted(text).utf8) }

    /// Gives a slow reader a short time to read the pending lines.
    func finish() {
        joined?.endAll()
        lines.finish()
    }
}
