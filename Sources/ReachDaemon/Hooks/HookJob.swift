internal import Glibc
internal import ReachCore
internal import ReachLoop

/// One run of a hook, from its start to its end.
final class HookJob {
    private let process: HookProcess
    private let run: HookQueue.Run
    private let loop: EventLoop
    private let options: HookRunner.Options
    private let report: (HookReport) -> Void
    private let whenEnded: () -> Void
    private let began = SystemClock.boot
    private let family: HookFamily
    private var output = HookOutput()
    private var timer: TimerQueue.ID?
    private var wasTold = false
    private var hasEnded = false

    init(
        _ process: HookProcess, of run: HookQueue.Run, on loop: EventLoop, _ options: HookRunner.Options,
        report: @escaping (HookReport) -> Void, whenEnded: @escaping () -> Void
    ) {
        self.process = process
        family = HookFamily(of: process.process)
        self.run = run
        self.loop = loop
        self.options = options
        self.report = report
        self.whenEnded = whenEnded
        timer = loop.schedule(at: began + options.timeout) { [unowned self] in
            report(.timedOut(hook: run.hook, limit: options.timeout))
            terminate()
        }
        try? loop.watch(process.output, for: .readable) { [unowned self] _ in readOutput() }
        do throws(SystemError) {
            try loop.watch(process.end, for: .readable) { [unowned self] _ in end() }
        } catch {
            // Its end would never be noticed: it ends now.
            wasTold = true
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

    /// Asks it and all that it started to end, and ends them if they do not.
    func terminate() {
        timer.map(loop.cancel)
        wasTold = true
        signal(SIGTERM)
        timer = loop.schedule(at: SystemClock.boot + options.grace) { [unowned self] in
            timer = nil
            signal(SIGKILL)
        }
    }

    /// Its process group and, since a child may have left that, all that descends from it. While the process is not
    /// awaited the group's number is nobody else's.
    private func signal(_ number: CInt) {
        family.signal(number)
        kill(-process.process, number)
    }

    private func readOutput() {
        var piece = [UInt8](repeating: 0, count: 4096)
        let count = read(process.output, &piece, piece.count)
        if count > 0 {
            tell(output.take(piece[..<count]))
        } else if count == 0 || errno != EAGAIN {
            loop.unwatch(process.output)
        }
    }

    private func end() {
        if wasTold { signal(SIGKILL) }
        var word: CInt = 0
        while waitpid(process.process, &word, 0) == -1, errno == EINTR {}
        hasEnded = true
        drainOutput()
        let signal = word & 0x7f
        let ending: HookReport.Ending = signal == 0 ? .exit(word >> 8 & 0xff) : .signal(signal)
        report(.ended(hook: run.hook, ending, after: SystemClock.boot - began, skipped: run.skipped))
        // This may be the last reference to it.
        whenEnded()
    }

    /// Children that it left behind may hold the pipe open, and are not waited for.
    private func drainOutput() {
        var piece = [UInt8](repeating: 0, count: 4096)
        for _ in 0..<32 {
            let count = read(process.output, &piece, piece.count)
            guard count > 0 else { break }
            tell(output.take(piece[..<count]))
        }
        tell(output.end())
    }

    private func tell(_ lines: [String]) {
        for line in lines { report(.output(hook: run.hook, line: line)) }
    }
}
