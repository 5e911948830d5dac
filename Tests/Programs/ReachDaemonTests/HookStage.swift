import Glibc
import ReachCore
import ReachDaemon
import ReachLoop
import ReachTesting

/// A directory of hooks and a loop on the test's own thread that runs them.
final class HookStage {
    struct Timeout: Error {
        let reports: [HookReport]
    }

    let directory: TemporaryDirectory
    let loop: EventLoop
    private(set) var reports: [HookReport] = []
    private(set) var runner: HookRunner?
    private var isChecking = false
    private var isEnough: ([HookReport]) -> Bool = { _ in false }

    init(timeout: Duration = .seconds(60), grace: Duration = .milliseconds(20)) throws {
        directory = try TemporaryDirectory()
        mkdir(directory.path + "/hooks.d", 0o755)
        loop = try EventLoop()
        var options = HookRunner.Options(directory: HookDirectory(directory.path + "/hooks.d"), timeout: timeout)
        options.grace = grace
        runner = HookRunner(on: loop, options) { [unowned self] report in
            reports.append(report)
            checkSoon()
        }
    }

    /// Checks the condition once for all reports of a turn: checking after each of thousands takes too long.
    private func checkSoon() {
        guard !isChecking else { return }
        isChecking = true
        loop.afterEvents { [unowned self] in
            isChecking = false
            if isEnough(reports) { loop.stop() }
        }
    }

    deinit { runner = nil }

    /// Adds a shell script as a hook. `$HERE` is the test's own directory.
    func hook(_ name: String, mode: UInt32 = 0o755, _ script: String) throws {
        try directory.file("hooks.d/" + name, "#!/bin/sh\nHERE=\(directory.path)\n\(script)\n", mode: mode)
    }

    func send(_ status: String, target: String = "internet", json: String = "{}\n") {
        let event = HookEvent(
            target: target, json: Array(json.utf8), environment: ["REACH_TARGET": target, "REACH_STATUS": status])
        runner?.handle(event)
    }

    func dropRunner() { runner = nil }

    /// Runs the loop until the reports meet the condition.
    func run(within limit: Duration = .seconds(20), until condition: @escaping ([HookReport]) -> Bool) throws {
        isEnough = condition
        guard !condition(reports) else { return }
        var isLate = false
        let guardian = loop.schedule(at: SystemClock.boot + limit) { [loop] in
            isLate = true
            loop.stop()
        }
        loop.run()
        loop.cancel(guardian)
        if isLate { throw Timeout(reports: reports) }
    }

    /// Runs the loop until this number of runs have ended.
    func run(untilEnded count: Int) throws { try run { $0.endings.count >= count } }

    func run(untilOutput line: String) throws { try run { $0.output.contains(line) } }

    func text(_ name: String) -> String {
        let file = Glibc.open(directory.path + "/" + name, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        return String(decoding: bytes[..<max(0, read(file, &bytes, bytes.count))], as: UTF8.self)
    }

    /// Creates a named pipe that a hook waits at until ``open(gate:)``.
    func makeGate(_ name: String) { mkfifo(directory.path + "/" + name, 0o600) }

    /// Opens the pipe, so that current and later waiters continue.
    func open(gate name: String) -> CInt { Glibc.open(directory.path + "/" + name, O_RDWR | O_CLOEXEC) }
}

extension [HookReport] {
    /// The ended runs, such as `name exit 0 skipped 1`.
    var endings: [String] {
        compactMap {
            switch $0 {
            case .ended(let hook, .exit(let status), _, let skipped): "\(hook) exit \(status) skipped \(skipped)"
            case .ended(let hook, .signal(let number), _, let skipped): "\(hook) signal \(number) skipped \(skipped)"
            default: nil
            }
        }
    }

    var output: [String] {
        compactMap { if case .output(_, let line) = $0 { line } else { nil } }
    }

    var refused: [String] {
        compactMap {
            if case .refused(let path, let problem) = $0 {
                "\(path.split(separator: "/").last ?? ""): \(problem)"
            } else {
                nil
            }
        }
    }
}
