internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

struct QueueResultCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "result",
        abstract: "Write the body of the answer to a finished request.",
        discussion: """
            To a terminal it writes texts only, with control characters escaped; -o - writes all as it is.

            With --json it prints status, headers and the body in base64, in one object for each part of 512 KiB.

            Exit status: 0 written, 1 there is no answer, 2 usage, 4 no daemon answers, 74 it cannot be written.

            Example: reach queue result -o answer.json 12
            """)

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("Write the body to this file instead of standard output.", valueName: "file"),
        completion: .file())
    var output: String?

    @OptionGroup var queue: QueueOptions

    @Argument(
        help: "The number of a request.", completion: ValueCompletion.request,
        transform: { try CommandLineValue.request($0) })
    var id: Int64

    func validate() throws {
        if queue.json && output != nil { throw ValidationError("--json and -o exclude each other") }
    }

    func run() throws {
        if let output, output != "-" { return try Self.write(id, to: output, queue) }
        if output == nil, !queue.json, StandardOutput.isTerminal { return try show() }
        try Self.each(id, queue) { answer throws(CommandError) in
            if queue.json {
                StandardOutput.writeJSON { $0.queueAnswer(answer, at: SystemClock.now) }
            } else {
                StandardOutput.write(answer.bytes)
            }
        }
    }

    /// Shows a text. The server chose its bytes, which would otherwise rewrite the screen or the terminal's settings.
    private func show() throws(CommandError) {
        var text: TerminalText?
        try Self.each(id, queue) { answer throws(CommandError) in
            guard text != nil || TerminalText.isText(answer.bytes) else {
                throw CommandError(
                    status: .cannotWrite,
                    message: "the answer is not a text: -o FILE writes it, -o - even to a terminal")
            }
            var piece = text ?? TerminalText()
            StandardOutput.write(piece.escaped(answer.bytes))
            text = piece
        }
        StandardOutput.write(text?.end() ?? "")
    }

    /// Calls `handle` with each part in order; with an empty part if the body is empty.
    private static func each(
        _ id: Int64, _ queue: QueueOptions, _ handle: (QueueAnswer) throws(CommandError) -> Void
    ) throws(CommandError) {
        var offset: Int64 = 0
        while true {
            let answer = try queue.ask { client throws(ControlError) in
                try client.answer(toRequest: id, from: offset)
            }
            try handle(answer)
            offset += Int64(answer.bytes.count)
            if offset >= answer.bodyBytes { return }
            if answer.bytes.isEmpty {
                throw CommandError(status: .cannotObserve, message: "the daemon's answer ends too early")
            }
        }
    }

    /// Writes the body to a file, and creates the file only if there is an answer. `-` is standard output.
    static func write(_ id: Int64, to path: String, _ queue: QueueOptions) throws(CommandError) {
        if path == "-" { return try each(id, queue) { StandardOutput.write($0.bytes) } }
        var descriptor: CInt = -1
        defer { if descriptor >= 0 { close(descriptor) } }
        try each(id, queue) { answer throws(CommandError) in
            do throws(SystemError) {
                if descriptor < 0 {
                    descriptor = try SystemError.check("open") {
                        ByteText.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
                    }
                }
                try FileDescriptor.write(answer.bytes, to: descriptor)
            } catch {
                throw CommandError(
                    status: .cannotWrite, message: "\(DisplayText.sanitized(ByteText.shown(path))): \(error)")
            }
        }
    }
}
