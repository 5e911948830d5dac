internal import Foundation
internal import Glibc
internal import ReachCore
internal import ReachTesting
internal import Testing

/// `reach wait` and `reach run` as people use them.
@Suite(.timeLimit(.minutes(2))) struct WaitProgramTests {
    private let reach = BuiltProgram.reach

    @Test func `a port is asked until it answers`() throws {
        let server = try ScriptedServer { _ in }
        let answered = try reach.run(["wait", "--no-daemon", "--until", "answers", "127.0.0.1:\(server.port)"])
        #expect(answered.status == 0 && answered.standardError.isEmpty, "\(answered)")
        let refused = try reach.run(["wait", "--no-daemon", "--until", "answers", "--timeout", "1500ms", "127.0.0.1:9"])
        #expect(refused.status == 124 && refused.standardError.contains("tcp://127.0.0.1:9: "), "\(refused)")
    }

    @Test func `a server that comes later ends the wait`() throws {
        var server: ScriptedServer? = try ScriptedServer { _ in }
        let port = try #require(server?.port)
        server = nil
        let waiting = try reach.start([
            "wait", "--no-daemon", "--until", "answers", "--timeout", "20s", "127.0.0.1:\(port)",
        ])
        usleep(1_500_000)
        server = try ScriptedServer(port: port) { _ in }
        #expect(try waiting.finish(within: .seconds(20)).status == 0)
        _ = server
    }

    @Test func `a URL that was not asked is no answer, and the command says so`() throws {
        let result = try reach.run(["wait", "--no-daemon", "https://127.0.0.1:9/"])
        #expect(
            result.status == 0
                && result.standardError.contains("whether it answers was not tested, see --until answers"))
        #expect(
            try reach.run(["wait", "--no-daemon", "--until", "reachable", "https://127.0.0.1:9/"]).standardError.isEmpty
        )
    }

    @Test func `a probe can be waited for where a daemon has it`() throws {
        let directory = try TemporaryDirectory()
        let server = try ScriptedServer { _ in }
        let file = try directory.file(
            "reach.toml",
            """
            [[probe]]
            name = "till"
            target = "tcp://127.0.0.1:\(server.port)"
            interval = "1s"
            [[probe]]
            name = "dead"
            target = "tcp://127.0.0.1:9"
            interval = "1s"
            """)
        let socket = directory.path + "/socket"
        let daemon = try BuiltProgram(named: "reachd").start(
            ["--config", file, "--socket", socket, "--state", directory.path + "/state"])
        defer { daemon.send(SIGKILL) }
        for _ in 0..<100 where access(socket, F_OK) != 0 { usleep(50_000) }
        let up = try reach.run(["wait", "--socket", socket, "--until", "probe=till", "--timeout", "15s"])
        #expect(up.status == 0, "\(up)")
        let down = try reach.run(["wait", "--socket", socket, "--until", "probe=dead", "--timeout", "1s"])
        #expect(down.status == 124 && down.standardError.contains("not up: probe dead"), "\(down)")
        let unknown = try reach.run(["wait", "--socket", socket, "--until", "probe=tiil", "--timeout", "1s"])
        #expect(unknown.status == 2 && unknown.standardError.contains("did you mean 'till'"), "\(unknown)")
        let misplaced = try reach.run(["wait", "--socket", socket, "probe=till"])
        #expect(misplaced.status == 2 && misplaced.standardError.contains("'--until probe=till'"), "\(misplaced)")
        #expect(try reach.run(["wait", "--no-daemon", "--until", "probe=till"]).status == 4)
    }

    private static let mayMount = getuid() == 0 && access("/usr/bin/unshare", X_OK) == 0

    /// A namespace with its own /etc/reach, and a link by a device of the name.
    ///
    /// - Parameter command: What runs there in place of `reach` with the words.
    private func run(
        _ configuration: String, mode: String = "644", _ words: [String], _ command: String? = nil
    ) throws -> BuiltProgram.Result {
        let directory = try TemporaryDirectory()
        let file = try directory.file("reach.toml", configuration)
        let script = """
            mount -t tmpfs tmpfs /mnt && mkdir /mnt/up /mnt/work &&
            mount -t overlay overlay -o lowerdir=/etc,upperdir=/mnt/up,workdir=/mnt/work /etc && mkdir -p /etc/reach &&
            cp \(file) /etc/reach/reach.toml && chmod \(mode) /etc/reach/reach.toml &&
            ip link set lo up && ip link add lte7 type veth peer name far7 && ip address add 192.0.2.9/24 dev lte7 &&
            ip link set lte7 up && ip link set far7 up && ip route add default via 192.0.2.1 || exit 70
            # The kernel may announce the carrier a second late.
            until ip link show lte7 | grep -q "state UP"; do sleep 0.02; done
            \(command ?? #"exec "$@""#)
            """
        return try BuiltProgram(named: "/usr/bin/unshare").run(
            ["-m", "-n", "/bin/sh", "-c", script, "sh", reach.path] + words, environment: ["REACH_SOCKET": nil])
    }

    @Test(.enabled(if: mayMount, "it takes root and unshare"))
    func `without a daemon the configuration says which links cost money`() throws {
        let metered = "[[interface]]\nmatch = \"lte*\"\nmetered = true\nclass = \"wwan\"\n"
        let words = ["run", "--no-daemon", "--timeout", "0", "--when", "unmetered", "--", "true"]
        let free = try run("", words)
        if free.status == 70 { return print("skipped: \(free.standardError)") }
        #expect(free.status == 0, "\(free)")
        #expect(try run(metered, words).status == 124)
        #expect(try run(metered, ["wait", "--no-daemon", "--timeout", "0", "--until", "wwan"]).status == 0)
        #expect(try run(metered, ["wait", "--no-daemon", "--timeout", "0", "--until", "reachable"]).status == 0)
        // An option of the command comes first.
        #expect(
            try run(metered, ["wait", "--metered", "lte7=no", "--timeout", "0", "--until", "unmetered"]).status == 0)
        let network = "[[network]]\nname = \"office\"\nprefix = \"192.0.2.0/24\"\nmetered = true\n"
        #expect(try run(network, words).status == 124)
        let broken = try run("[[interface]\n", words)
        #expect(broken.status == 4 && broken.standardError.contains("/etc/reach/reach.toml"), "\(broken)")
        let domain = "[[network]]\nname = \"office\"\npvd = \"office.example.org\"\nmetered = true\n"
        #expect(try run(domain, words).status == 4)
    }

    private static let configuration = """
        [hold]
        down = "7s"
        [targets]
        uplink = "interface:lte7"
        [[interface]]
        match = "lte*"
        metered = true
        class = "wwan"
        """

    @Test(.enabled(if: mayMount, "it takes root and unshare"))
    func `without a daemon each command answers by the configuration`() throws {
        let status = try run(Self.configuration, ["status", "--no-daemon", "uplink"])
        if status.status == 70 { return print("skipped: \(status.standardError)") }
        #expect(
            status.lines.first == "uplink is reachable through lte7 (wwan), metered", "\(status)")
        let json = try run(Self.configuration, ["status", "--no-daemon", "--json", "uplink", "internet"])
        #expect(
            json.standardOutput.contains(#""target":"uplink","name":"uplink""#)
                && json.standardOutput.contains(#""metered":true"#), "\(json)")
        // The second line is the loss of the link, which `hold` delays.
        let directory = try TemporaryDirectory()
        let lines = directory.path + "/lines"
        let watched = try run(
            Self.configuration.replacing("7s", with: "1s"), [],
            """
            timeout 30 \(reach.path) watch --no-daemon --json uplink >\(lines) & watch=$!
            until grep -q uplink \(lines); do sleep 0.1; done
            ip link set far7 down
            until grep -q hold-elapsed \(lines) || ! kill -0 $watch; do sleep 0.1; done
            kill $watch; cat \(lines)
            """)
        let names = watched.lines.filter { $0.contains(#""target":"uplink","name":"uplink""#) }
        #expect(names.count >= 2 && names.last?.contains("hold-elapsed") == true, "\(watched)")
        let links = try run(Self.configuration, ["links", "--no-daemon", "lte7"])
        #expect(links.standardOutput.contains("wwan") && links.standardOutput.contains("metered"), "\(links)")
        let explained = try run(Self.configuration, ["explain", "--no-daemon", "uplink"])
        #expect(explained.standardOutput.contains("lte7") && explained.standardError.isEmpty, "\(explained)")
        #expect(
            try run(Self.configuration, ["wait", "--no-daemon", "--until", "wwan", "--timeout", "0", "uplink"]).status
                == 0)
    }

    @Test(.enabled(if: mayMount, "it takes root and unshare"))
    func `an error of the configuration is said, and the kernel answers all the same`() throws {
        let file = "[[interface]]\nmatch = \"lte*\"\nclass = \"warp\"\n"
        for command in ["status", "explain", "links"] {
            let result = try run(file, [command, "--no-daemon"])
            if result.status == 70 { return print("skipped: \(result.standardError)") }
            #expect(result.status == 0 && result.standardOutput.contains("lte7"), "\(result)")
            #expect(result.standardError.contains("/etc/reach/reach.toml:3:"), "\(result)")
            #expect(
                result.standardError.contains("the configuration in /etc/reach is left out of what follows"),
                "\(result)")
        }
        let moved = "mkdir /etc/reach/reach.d && mv /etc/reach/reach.toml /etc/reach/reach.d/bad.toml && exec \"$@\""
        let other = try run(file, ["status", "--no-daemon"], moved)
        #expect(other.standardError.contains("/etc/reach/reach.d/bad.toml:3:"), "\(other)")
        #expect(!other.standardError.contains("reach.toml"), "no file of that name is there: \(other)")
    }
}
