import Glibc
import ReachTesting
import Testing

/// What TAB completes in real shells, in a terminal of tmux.
@Suite(
    .enabled(if: TestProgram.path("tmux") != nil, "tmux is not installed (apt-get install tmux)"),
    .timeLimit(.minutes(2)), .serialized)
struct ShellTests {
    enum Shell: String, CaseIterable, CustomTestStringConvertible {
        case bash, zsh, fish

        var testDescription: String { rawValue }

        /// How it is started without anyone's settings.
        fileprivate var command: [String] {
            switch self {
            case .bash: ["bash", "--norc", "-i"]
            case .zsh: ["zsh", "-f", "-i"]
            case .fish: ["fish", "--no-config", "-i"]
            }
        }

        /// What has it read completions.
        fileprivate func reading(_ directory: String) -> String {
            switch self {
            case .bash: "source \(directory)/reach.bash"
            case .zsh: "fpath=(\(directory) $fpath); autoload -U compinit; compinit -u -D"
            case .fish: "source \(directory)/reach.fish"
            }
        }
    }

    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try ChildProcess.run([ProjectFile.path("contrib/generate"), directory.path, BuiltProgram.reach.path])
        try directory.file("some-own-file", "")
    }

    private func tmux(_ words: String...) throws -> String { try tmux(words) }

    private func tmux(_ words: [String]) throws -> String {
        try ChildProcess.run(["tmux", "-S", directory.path + "/tmux", "-f", "/dev/null"] + words)
    }

    /// Waits until the terminal shows a text.
    private func expect(_ text: String, _ comment: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let deadline = ContinuousClock.now + .seconds(20)
        var screen = ""
        while ContinuousClock.now < deadline {
            screen = (try? tmux("capture-pane", "-p")) ?? ""
            if screen.contains(text) { return }
            usleep(50_000)
        }
        Issue.record("\(comment): '\(text)' is not on the screen:\n\(screen)", sourceLocation: sourceLocation)
    }

    private func open(_ shell: Shell, socket: String = "/nonexistent/socket") throws {
        let programs = BuiltProgram.reach.path.split(separator: "/").dropLast().joined(separator: "/")
        let setting = [
            "HOME=\(directory.path)", "REACH_SOCKET=\(socket)", "PATH=/\(programs):/usr/bin:/bin:/usr/sbin:/sbin",
            "LC_ALL=C.UTF-8",
        ]
        _ = try tmux(
            ["new-session", "-d", "-x", "120", "-y", "24", "-c", directory.path, "env"] + setting + shell.command)
        _ = try tmux("send-keys", "-l", "\(shell.reading(directory.path)); echo re''ady")
        _ = try tmux("send-keys", "Enter")
        expect("\nready", shell.rawValue)
    }

    /// Types a line and TAB, and leaves it.
    private func completing(_ shell: Shell, _ typed: String, gives completed: String) throws {
        _ = try tmux("send-keys", "-l", typed)
        _ = try tmux("send-keys", "Tab")
        expect(completed, "\(shell.rawValue): \(typed)")
        _ = try tmux("send-keys", "C-u")
    }

    @Test(arguments: Shell.allCases)
    func `words after -- are completed as those of the command`(shell: Shell) throws {
        guard TestProgram.path(shell.rawValue) != nil else { return print("\(shell.rawValue) is not installed") }
        try open(shell)
        defer { _ = try? tmux("kill-server") }
        try completing(shell, "reach run --whi", gives: "reach run --while")
        try completing(shell, "reach run --when wifi -- printen", gives: "-- printenv")
        try completing(shell, "reach run --when wifi -- cat some-o", gives: "-- cat some-own-file")
        // An option of the command is none of reach's.
        try completing(shell, "reach run --when wifi -- cat --timeout some-o", gives: "--timeout some-own-file")
    }

    @Test(arguments: Shell.allCases)
    func `groups of probes are those of the daemon`(shell: Shell) throws {
        guard TestProgram.path(shell.rawValue) != nil else { return print("\(shell.rawValue) is not installed") }
        let file = try directory.file(
            "reach.toml", "[[probe]]\nname = \"till\"\ntarget = \"tcp://127.0.0.1:1\"\ngroup = \"shops-north\"\n")
        let socket = directory.path + "/socket"
        let daemon = try BuiltProgram(named: "reachd").start(
            ["--config", file, "--socket", socket, "--state", directory.path, "--events"])
        _ = try daemon.nextLine()
        defer {
            daemon.send(SIGTERM)
            _ = try? daemon.finish()
        }
        try open(shell, socket: socket)
        defer { _ = try? tmux("kill-server") }
        try completing(shell, "reach probes --group sho", gives: "--group shops-north")
        try completing(shell, "reach probes ti", gives: "reach probes till")
    }

    @Test func `the status line of tmux shows what the recipe has it show`() throws {
        let recipe = ProjectFile.text("man/reach-recipes.7").split(separator: "\n").filter {
            $0.hasPrefix("set -g status-right")
        }
        let settings = try directory.file("tmux.conf", recipe.joined(separator: "\n") + "\n")
        let status = try BuiltProgram.reach.run(["status", "--format", "{icon} {class}"]).standardOutput
        let programs = BuiltProgram.reach.path.split(separator: "/").dropLast().joined(separator: "/")
        let inner = ["tmux", "-S", directory.path + "/inner", "-f", settings]
        _ = try tmux(
            ["new-session", "-d", "-x", "80", "-y", "10", "env", "-u", "TMUX", "PATH=/\(programs):/usr/bin:/bin"]
                + ["LC_ALL=C.UTF-8"] + inner + ["new-session", "sleep 60"])
        defer {
            _ = try? ChildProcess.run(inner + ["kill-server"])
            _ = try? tmux("kill-server")
        }
        expect(" " + status.trimmingPrefix(" ").prefix { $0 != "\n" }, "\(recipe)")
    }
}
