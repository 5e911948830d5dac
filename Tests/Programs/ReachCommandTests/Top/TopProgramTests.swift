import Foundation
import Glibc
import ReachTesting
import Testing

/// `reach top` in a terminal, which tmux provides.
@Suite(
    .enabled(if: TestProgram.path("tmux") != nil, "tmux is not installed (apt-get install tmux)"),
    .timeLimit(.minutes(2)), .serialized)
struct TopProgramTests {
    private let directory: TemporaryDirectory
    private let daemon: RunningProgram
    private let socket: String

    init() throws {
        directory = try TemporaryDirectory()
        socket = directory.path + "/socket"
        let file = try directory.file("reach.toml", "\n", mode: 0o644)
        daemon = try BuiltProgram(named: "reachd").start([
            "--config", file, "--socket", socket, "--state", directory.path, "--events",
        ])
        _ = try daemon.nextLine()
    }

    private func reach(_ words: String...) throws -> BuiltProgram.Result {
        try BuiltProgram.reach.run(words, environment: ["REACH_SOCKET": socket])
    }

    private func tmux(_ words: String...) throws -> String {
        try ChildProcess.run(["tmux", "-S", directory.path + "/tmux", "-f", "/dev/null"] + words)
    }

    /// Opens a terminal whose shell runs a command and then says with which status it ended.
    private func open(_ words: String, width: Int = 80, height: Int = 24) throws {
        let command =
            "env -u NO_COLOR LC_ALL=C.UTF-8 REACH_SOCKET=\(socket) \(BuiltProgram.reach.path) \(words); echo status $?; exec sh"
        _ = try tmux("new-session", "-d", "-x", "\(width)", "-y", "\(height)", "sh", "-c", command)
    }

    private func close() {
        _ = try? tmux("kill-server")
        daemon.send(SIGTERM)
        _ = try? daemon.finish()
    }

    private var screen: String { (try? tmux("capture-pane", "-p")) ?? "" }

    /// Waits until the screen has this text.
    private func expect(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline {
            if screen.contains(text) { return }
            usleep(20_000)
        }
        Issue.record("'\(text)' is not on the screen:\n\(screen)", sourceLocation: sourceLocation)
    }

    /// The process that runs `reach` in the terminal.
    private func process() throws -> pid_t {
        let shell = try tmux("display-message", "-p", "#{pane_pid}").trimmingCharacters(in: .whitespacesAndNewlines)
        let children = try String(contentsOfFile: "/proc/\(shell)/task/\(shell)/children", encoding: .utf8)
        return try #require(pid_t(children.split(separator: " ").first ?? ""))
    }

    @Test func `keys hold, release, explain and cancel the request, and q restores the terminal`() throws {
        defer { close() }
        #expect(try reach("queue", "add", "--when", "interface=nosuch0", "http://127.0.0.1:1/").status == 0)
        try open("top")
        expect(">1   waiting")
        #expect(screen.contains("LINK") || screen.contains("QUEUE"))
        _ = try tmux("send-keys", "h")
        expect("request 1 is held")
        expect(">1   held")
        _ = try tmux("send-keys", "r")
        expect("request 1 is released")
        _ = try tmux("send-keys", "e")
        expect("any key closes this")
        #expect(screen.contains("request 1 is waiting"))
        _ = try tmux("send-keys", "Escape")
        expect("q quit")
        _ = try tmux("send-keys", "Tab")
        // An event of another program appears without a key.
        #expect(try reach("queue", "add", "--when", "interface=nosuch0", "http://127.0.0.1:2/").status == 0)
        expect("127.0.0.1:2")
        _ = try tmux("send-keys", "Down")
        expect(">2")
        _ = try tmux("send-keys", "c")
        expect("cancel request 2? y or n")
        _ = try tmux("send-keys", "y")
        expect("request 2 is cancelled")
        #expect(try reach("queue", "show", "2").standardOutput.contains("cancelled"))
        _ = try tmux("send-keys", "q")
        expect("status 0")
        #expect(!screen.contains("q quit"))
    }

    @Test func `a daemon that keeps a queue after a restart has its requests on the screen as they come`() throws {
        defer { close() }
        func restart(_ old: RunningProgram, _ configuration: String) throws -> RunningProgram {
            old.send(SIGTERM)
            _ = try old.finish()
            let file = try directory.file("other.toml", configuration)
            let fresh = try BuiltProgram(named: "reachd").start(
                ["--config", file, "--socket", socket, "--state", directory.path, "--events"])
            _ = try fresh.nextLine()
            return fresh
        }
        let without = try restart(daemon, "[queue]\nenabled = false\n")
        try open("top")
        expect("this daemon keeps none")
        let with = try restart(without, "\n")
        defer { with.send(SIGKILL) }
        expect("no request is on its way")
        #expect(try reach("queue", "add", "--when", "interface=nosuch0", "http://127.0.0.1:3/").status == 0)
        expect("127.0.0.1:3")
        _ = try tmux("send-keys", "q")
    }

    @Test(arguments: [(80, 24), (200, 50), (40, 24)])
    func `the screen follows the size of its terminal`(width: Int, height: Int) throws {
        defer { close() }
        try open("queue top", width: 100, height: 30)
        expect("no request is on its way")
        _ = try tmux("resize-window", "-x", "\(width)", "-y", "\(height)")
        expect(width < 80 ? "keys: q Tab" : "e explain")
        #expect(screen.split(separator: "\n").allSatisfy { $0.count <= width })
        _ = try tmux("send-keys", "q")
        expect("status 0")
    }

    @Test(arguments: [(SIGTERM, "status 0"), (SIGINT, "status 0"), (SIGHUP, "status 0"), (SIGQUIT, "status 0")])
    func `a signal restores the terminal`(signal: CInt, status: String) throws {
        defer { close() }
        try open("top")
        expect("q quit")
        kill(try process(), signal)
        expect(status)
        #expect(!screen.contains("q quit"))
        // The shell echoes what is typed.
        _ = try tmux("send-keys", "echo ty''ped", "Enter")
        expect("typed")
    }

    @Test func `Ctrl-Z restores the terminal, and fg draws the screen again`() throws {
        defer { close() }
        _ = try tmux("new-session", "-d", "-x", "80", "-y", "24", "bash", "--norc", "-i")
        let command = "REACH_SOCKET=\(socket) \(BuiltProgram.reach.path) top; echo status $?"
        _ = try tmux("send-keys", command, "Enter")
        expect("q quit")
        _ = try tmux("send-keys", "C-z")
        expect("Stopped")
        #expect(!screen.contains("q quit"))
        _ = try tmux("send-keys", "fg", "Enter")
        expect("q quit")
        _ = try tmux("send-keys", "q")
        expect("top")
    }

    @Test func `a screen on which nothing changes takes no processor time`() throws {
        defer { close() }
        try open("top")
        expect("no request is on its way")
        let process = try process()
        func switches() throws -> Int {
            let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            return text.split(separator: "\n").filter { $0.contains("ctxt_switches") }
                .compactMap { Int($0.split(separator: "\t").last ?? "") }.reduce(0, +)
        }
        // What the first drawing still causes ends within a second; a busy machine may take longer.
        var before = try switches()
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline {
            sleep(3)
            let now = try switches()
            if now == before { return }
            before = now
        }
        Issue.record("it wakes without an event")
    }

    @Test(arguments: [["TERM": "dumb"], ["TERM": nil]])
    func `without a terminal that moves its cursor everything is printed once`(environment: [String: String?]) throws {
        defer { close() }
        let result = try BuiltProgram.reach.run(
            ["top"], environment: environment.merging(["REACH_SOCKET": socket]) { $1 })
        #expect(result.status == 0 && result.standardOutput.contains("QUEUE  no request is on its way"), "\(result)")
        #expect(!result.standardOutput.contains("\u{1b}"))
    }
}

/// Without a daemon.
@Suite struct TopUsageTests {
    @Test func `without a daemon there is nothing to show`() throws {
        let result = try BuiltProgram.reach.run(["top", "--socket", "/nonexistent/socket"])
        #expect(result.status == 4 && result.standardOutput.isEmpty)
        #expect(result.standardError.hasPrefix("reach: no daemon answers at /nonexistent/socket"))
    }
}
