internal import Glibc
internal import ReachTesting
internal import Testing

/// The recipes of reach-recipes(7), typed as they stand: with the names and addresses of a small Internet in place of
/// theirs.
@Suite(
    .enabled(if: SmallInternet.whyNot == nil, "\(SmallInternet.whyNot ?? "")"),
    .enabled(if: getuid() == 0, "only root can give a program other files"),
    .enabled(if: TestProgram.path("jq") != nil, "jq is not here"), .timeLimit(.minutes(2)))
struct RecipeTests {
    /// The stage on which they are typed: a daemon runs, and has no configuration yet.
    private final class Machine {
        let small: SmallInternet
        let files: TemporaryDirectory
        private let mounts: String
        private var daemon: RunningProgram
        private let path: String
        private let gateway: String
        private var written = 0
        private var reloads = 0

        init() throws {
            small = try SmallInternet()
            files = try TemporaryDirectory()
            let programs = BuiltProgram.reach.path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
            path = "\(files.path)/bin:\(programs):/usr/sbin:/usr/bin:/sbin:/bin"
            let folders = ["hooks", "bin", "reach.d", "state"].map { [place = files.path] in place + "/" + $0 }
            try ChildProcess.run(["mkdir", "-p"] + folders)
            for name in ["backup", "apt-get", "sendmail"] {
                try files.file(
                    "bin/" + name, "#!/bin/sh\necho \"$(basename \"$0\") $*\" >>\(files.path)/ran\n", mode: 0o755)
            }
            // Its settings are not in /etc/reach here.
            let notify =
                "REACH_NOTIFY_STATE=\(files.path)/notified REACH_NOTIFY_CONF=\(files.path)/notify.conf exec \(ProjectFile.path("contrib/hooks/notify"))"
            try files.file("hooks/notify", "#!/bin/sh\n\(notify)\n", mode: 0o755)
            try ChildProcess.run(["cp", ProjectFile.path("contrib/hooks/send-mail"), files.path])
            let words = try small.router.run("ip", "-o", "link", "show", "up1").split(separator: " ")
            gateway = words.firstIndex(of: "link/ether").map { String(words[$0 + 1]) } ?? ""
            try files.file("reach.toml", "")
            mounts = [
                (try small.resolverConfiguration(), "/etc/resolv.conf"),
                (small.authorityPath, "/etc/ssl/certs/ca-certificates.crt"),
            ].map { "mount --bind \($0) \($1) && " }.joined()
            daemon = try Self.start(mounts, files.path, path, in: small.machine.name)
            // A machine in use has asked for its gateway; only then the kernel knows the hardware address.
            try small.machine.run("ping", "-c", "1", "192.0.2.1")
        }

        private static func start(
            _ mounts: String, _ files: String, _ path: String, in namespace: String
        ) throws -> RunningProgram {
            let daemon = try BuiltProgram(named: "/bin/sh").start(
                [
                    "-c",
                    "\(mounts)exec \(BuiltProgram(named: "reachd").path) --config \(files)/reach.toml "
                        + "--socket \(files)/socket --state \(files)/state --events",
                ], environment: ["PATH": path], in: namespace)
            _ = try daemon.nextLine(within: .seconds(20))
            return daemon
        }

        /// Writes a file of `/etc/reach/reach.d`, or the hook's settings.
        func write(_ lines: [String], isSettings: Bool = false) throws {
            let text = lines.joined(separator: "\n")
            guard !isSettings else {
                try files.file(
                    "notify.conf",
                    text + "\nMAIL_BY=hook SEND_MAIL=\(files.path)/send-mail SENDMAIL=\(files.path)/bin/sendmail\n")
                return
            }
            written += 1
            try files.file(
                "reach.d/\(written + 10).toml",
                text.replacing("/etc/reach/hooks.d", with: files.path + "/hooks")
                    .replacing("02:00:5e:10:00:01", with: gateway)
                    .replacing("/run/reach/page", with: files.path + "/page")
                    .replacing("/etc/reach/line", with: files.path + "/line") + "\n")
        }

        func write(script lines: [String]) throws {
            try files.file("line", lines.joined(separator: "\n") + "\n", mode: 0o755)
        }

        func reload() throws {
            reloads += 1
            daemon.send(SIGHUP)
            let clock = ContinuousClock()
            let deadline = clock.now + .seconds(20)
            while daemon.errorText.times(of: "the configuration was reloaded") < reloads, clock.now < deadline {
                usleep(20_000)
            }
            #expect(daemon.errorText.times(of: "the configuration was reloaded") == reloads, "\(daemon.errorText)")
            #expect(
                !daemon.errorText.contains("take effect at the next start"), "the page says reload, and means restart")
        }

        func restart() throws {
            try end()
            reloads = 0
            daemon = try Self.start(mounts, files.path, path, in: small.machine.name)
        }

        /// The daemon's directory in its usual place.
        private var history: String {
            "mount -t tmpfs tmpfs /var/lib && mkdir /var/lib/reach && mount --bind \(files.path)/state /var/lib/reach && "
        }

        /// Types a command into a shell; one that would run forever ends after 3 s.
        func type(_ command: String) throws -> BuiltProgram.Result {
            let bounded = command.hasPrefix("reach watch") ? "timeout --preserve-status 3 " + command : command
            return try BuiltProgram(named: "/bin/sh").run(
                ["-c", "\(mounts)\(history)cd \(files.path); " + bounded],
                environment: ["PATH": path, "REACH_SOCKET": files.path + "/socket", "HOME": files.path],
                in: small.machine.name,
                limit: .seconds(40))
        }

        func end() throws {
            daemon.send(SIGTERM)
            #expect(try daemon.finish(within: .seconds(5)).status == 0)
        }
    }

    @Test func `a file that reachd reads is followed by what makes it read it`() {
        for (number, (section, step)) in Recipes.steps.enumerated() {
            guard case .file = step else { continue }
            let next = Recipes.steps[(number + 1)...].first.map { $0.section == section ? $0.step : nil } ?? nil
            #expect(next == .reload || next == .restart || section.hasPrefix("A SERVICE"), "\(section): \(step)")
        }
    }

    @Test func `typed in their order while a daemon runs, the recipes do their jobs`() throws {
        let machine = try Machine()
        var printed: [String: String] = [:]
        var commands = 0
        for (_, step) in Recipes.steps {
            switch step {
            case .file(let lines): try machine.write(lines)
            case .settings(let lines): try machine.write(lines, isSettings: true)
            case .script(let lines): try machine.write(script: lines)
            case .reload: try machine.reload()
            case .restart: try machine.restart()
            case .command(let command):
                commands += 1
                let result = try machine.type(command)
                // The printer and the camera are not there: no attempt has ended.
                let expected: CInt = command == "reach probes" ? 3 : 0
                #expect(result.status == expected, "\(command): \(result.standardOutput)\(result.standardError)")
                printed[String(command.split(separator: " ").prefix(3).joined(separator: " ")), default: ""] +=
                    result.standardOutput
            }
        }
        #expect(commands == 19)
        try check(printed, on: machine)
        try machine.end()
    }

    private func check(_ printed: [String: String], on machine: Machine) throws {
        #expect(printed["reach explain --until"]?.contains("unmetered, network=home  holds") == true)
        #expect(printed["reach status"]?.contains("reachable") == true)
        #expect(printed["reach links"]?.contains("up0") == true)
        #expect(try machine.small.machine.run("ip", "route", "show", "default").contains("dev up0 metric 10"))
        #expect(printed["reach hooks test"]?.contains("mail: accepted") == true)
        #expect(printed["reach queue add"] == "1\n2\n")
        // The page is written when its time has come.
        let page = "for turn in $(seq 150); do grep -q printers page/index.html && exit; sleep 0.2; done; exit 1"
        #expect(try machine.type(page).status == 0)
        let lines = printed["reach watch --format"]?.split(separator: "\n").map(String.init)
        #expect(lines == ["🌐 up0", #"{"text": "🌐", "tooltip": "up0", "class": "reachable"}"#])
        #expect(try machine.type("cat ~/.reach-bar").standardOutput == "🌐 up0\n")
        #expect(printed["reach probes"]?.contains("printer") == true)
        let ran = try ChildProcess.run(["cat", machine.files.path + "/ran"])
        #expect(
            ran.contains("backup /srv") && ran.contains("backup /home") && ran.contains("apt-get -q update")
                && ran.contains("sendmail"))
        #expect(try machine.type("head -c 15 report.html").standardOutput.lowercased().hasPrefix("<!doctype html>"))
    }
}

extension String {
    /// How often a text is in this one.
    fileprivate func times(of text: String) -> Int { ranges(of: text).count }
}
