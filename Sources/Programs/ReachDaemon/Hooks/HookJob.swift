internal import Glibc
internal import ReachCore
internal import ReachLoop

/// A running hook.
final class HookJob {
    private let process: HookProcess
    private let run: HookQueue.Run
    private let loop: EventLoop
    private let options: HookRunner.Options
    private let report: (HookReport) -> Void
    private let onEnd: () -> Void
    private let began = SystemClock.boot
    private let family: HookFamily
    private var output = HookOutput()
    private var timer: TimerQueue.ID?
    private var isTerminating = false
    private var hasEnded = false

    init(
        _ process: HookProcess, of run: HookQueue.Run, on loop: EventLoop, _ options: HookRunner.Options,
        report: @escaping (HookReport) -> Void, onEnd: @escaping () -> Void
    ) {
        self.process = process
        family = HookFamily(of: process.process)
        self.run = run
        self.loop = loop
        self.options = options
        self.report = report
        self.onEnd = onEnd
        timer = loop.schedule(at: began + options.timeout) { [unowned self] in
            report(.timedOut(hook: run.hook, limit: options.timeout))
            terminate()
        }
        try? loop.watch(process.output, for: .readable) { [unowned self] _ in readOutput() }
        do throws(SystemError) {
            try loop.watch(process.end, for: .readable) { [unowned self] _ in end() }
        } catch {
            // The end of the process would go unnoticed: end it now.
            isTerminating = true
            loop.afterEvents { [weak self] in self?.end() }
        }
    }

    deinit {
        timer.map(loop.cancel)
        if !hasEnded { signal(SIGTERM) }
        loop.unwatch(process.end)
        loop.unwatch(process.output)
        close(process.end)
        close(process.output)
    }

    /// Sends SIGTERM to the hook and its descendants, and SIGKILL after the grace period.
    func terminate() {
        timer.map(loop.cancel)
        isTerminating = true
        signal(SIGTERM)
        timer = loop.schedule(at: SystemClock.boot + options.grace) { [unowned self] in
            timer = nil
            signal(SIGKILL)
        }
    }

    /// Signals the process group and all descendants, since these may have left the group. Until waitpid(2) reaps the
    /// process, its group ID cannot be reused.
    private func signal(_ number: CInt) {
        family.signal(number)
        kill(-process.process, number)
    }

    private func readOutput() {
        var piece = [UInt8](repeating: 0, count: 4096)
        let count = read(process.output, &piece, piece.count)
        if count > 0 {
            reportLines(output.append(piece[..<count]))
        } else if count == 0 || errno != EAGAIN {
            loop.unwatch(process.output)
        }
    }

    private func end() {
        if isTerminating { signal(SIGKILL) }
        var word: CInt = 0
        while waitpid(process.process, &word, 0) == -1, errno == EINTR {}
        hasEnded = true
        drainOutput()
        let signal = word & 0x7f
        let ending: HookReport.Ending = signal == 0 ? .exit(word >> 8 & 0xff) : .signal(signal)
        report(.ended(hook: run.hook, ending, after: SystemClock.boot - began, skipped: run.skipped))
        // The callback may release the last reference to this job.
        onEnd()
    }

    /// Reads the remaining output without waiting: children that still run may hold the pipe open.
    private func drainOutput() {
        var piece = [UInt8](repeating: 0, count: 4096)
        for _ in 0..<32 {
            let count = read(process.output, &piece, piece.count)
            guard count > 0 else { break }
            reportLines(output.append(piece[..<count]))
        }
        reportLines(output.end())
    }

    private func reportLines(_ lines: [String]) {
        for line in lines { report(.output(hook: run.hook, line: line)) }
    }
}

/// Splits a hook's output into lines for the log, up to a limit.
struct HookOutput {
    static let lineLimit = 1024
    static let limit = 16 * 1024

    private var line: [UInt8] = []
    private var count = 0

    /// Adds output.
    ///
    /// - Returns: The lines that are complete.
    mutating func append(_ bytes: some Collection<UInt8>) -> [String] {
        var lines: [String] = []
        for byte in bytes {
            guard count < Self.limit else { break }
            count += 1
            if byte == UInt8(ascii: "\n") || line.count == Self.lineLimit { finishLine(into: &lines) }
            if byte != UInt8(ascii: "\n") { line.append(byte) }
            if count == Self.limit {
                finishLine(into: &lines)
                lines.append("(further output omitted)")
            }
        }
        return lines
    }

    /// Ends the output.
    ///
    /// - Returns: The text after the last newline.
    mutating func end() -> [String] {
        var lines: [String] = []
        finishLine(into: &lines)
        return lines
    }

    private mutating func finishLine(into lines: inout [String]) {
        if !line.isEmpty { lines.append(String(decoding: line, as: UTF8.self)) }
        line = []
    }
}
