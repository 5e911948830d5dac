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
    /// A literal block of the page: the lines of a file, or of commands.
    private struct Block {
        let section: String
        let lines: [String]
    }

    private static var blocks: [Block] {
        var (blocks, section, lines): ([Block], String, [String]?) = ([], "", nil)
        for line in ProjectFile.text("man/reach-recipes.7").split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix(".Sh ") { section = String(line.dropFirst(4)) }
            if line.hasPrefix(".Bd -literal") { lines = [] }
            if line == ".Ed" {
                blocks.append(Block(section: section, lines: lines ?? []))
                lines = nil
            } else if !line.hasPrefix(".Bd") {
                lines?.append(String(line).replacing("example.org", with: "example.net").replacing("eth0", with: "up0"))
            }
        }
        return blocks
    }

    private static var commands: [String] {
        blocks.flatMap(\.lines).compactMap { line in
            if line.hasPrefix("$ ") { return String(line.dropFirst(2)) }
            let unit = "ExecStartPre=/usr/bin/"
            return line.hasPrefix(unit) ? String(line.dropFirst(unit.count)) : nil
        }
    }

    /// The stage on which they are typed.
    private final class Machine {
        let small: SmallInternet
        let files: TemporaryDirectory
        private let mounts: String
        private let daemon: RunningProgram
        private let path: String

        init() throws {
            small = try SmallInternet()
            files = try TemporaryDirectory()
            let programs = BuiltProgram.reach.path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
            path = "\(files.path)/bin:\(programs):/usr/sbin:/usr/bin:/sbin:/bin"
            try ChildProcess.run(
                ["mkdir", "-p", files.path + "/hooks", files.path + "/bin", files.path + "/d", files.path + "/state"])
            for name in ["backup", "apt-get", "sendmail"] {
                try files.file(
                    "bin/" + name, "#!/bin/sh\necho \"$(basename \"$0\") $*\" >>\(files.path)/ran\n", mode: 0o755)
            }
            // Its settings are not in /etc/reach here.
            let notify =
                "REACH_NOTIFY_STATE=\(files.path)/notified REACH_NOTIFY_CONF=\(files.path)/notify.conf exec \(ProjectFile.path("contrib/hooks/notify"))"
            try files.file("hooks/notify", "#!/bin/sh\n\(notify)\n", mode: 0o755)
            try ChildProcess.run(["cp", ProjectFile.path("contrib/hooks/send-mail"), files.path])
            let router = try small.router.run("ip", "-o", "link", "show", "up1")
            let words = router.split(separator: " ")
            let address = words.firstIndex(of: "link/ether").map { String(words[$0 + 1]) } ?? ""
            for (number, block) in RecipeTests.blocks.enumerated() {
                let text = block.lines.joined(separator: "\n")
                if block.lines.first?.hasPrefix("MAIL_TO") == true {
                    try files.file(
                        "notify.conf",
                        text + "\nMAIL_BY=hook SEND_MAIL=\(files.path)/send-mail SENDMAIL=\(files.path)/bin/sendmail\n")
                } else if block.lines.first?.hasPrefix("[") == true, block.lines.first != "[Service]" {
                    let here = text.replacing("/etc/reach/hooks.d", with: files.path + "/hooks")
                        .replacing("02:00:5e:10:00:01", with: address)
                        .replacing("/run/reach/page", with: files.path + "/page")
                    try files.file("d/\(number).toml", here + "\n")
                }
            }
            try ChildProcess.run(["mv", files.path + "/d", files.path + "/reach.d"])
            try files.file("reach.toml", "")
            mounts = [
                (try small.resolverConfiguration(), "/etc/resolv.conf"),
                (small.authorityPath, "/etc/ssl/certs/ca-certificates.crt"),
            ].map { "mount --bind \($0) \($1) && " }.joined()
            daemon = try BuiltProgram(named: "/bin/sh").start(
                [
                    "-c",
                    "\(mounts)exec \(BuiltProgram(named: "reachd").path) --config \(files.path)/reach.toml "
                        + "--socket \(files.path)/socket --state \(files.path)/state --events",
                ], environment: ["PATH": path], in: small.machine.name
            )
            while !(try daemon.nextLine(within: .seconds(20)).contains("\"connectivity\":\"full\"")) {}
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

    @Test func `each file of a recipe is a right configuration, and each command does its job`() throws {
        let machine = try Machine()
        #expect(Self.commands.count == 16)
        var printed: [String: String] = [:]
        for command in Self.commands {
            let result = try machine.type(command)
            // The printer and the camera are not there: no attempt has ended.
            let expected: CInt = command == "reach probes" ? 3 : 0
            #expect(result.status == expected, "\(command): \(result.standardOutput)\(result.standardError)")
            printed[String(command.split(separator: " ").prefix(3).joined(separator: " ")), default: ""] +=
                result.standardOutput
        }
        #expect(printed["reach status"]?.contains("reachable") == true)
        #expect(printed["reach links"]?.contains("up0") == true)
        #expect(printed["reach hooks test"]?.contains("mail: accepted") == true)
        #expect(printed["reach queue add"] == "1\n2\n")
        #expect(try machine.type("grep -c printers page/index.html").status == 0)
        let lines = printed["reach watch --format"]?.split(separator: "\n").map(String.init)
        #expect(lines == ["🌐 up0", #"{"text": "🌐", "tooltip": "up0", "class": "reachable"}"#])
        #expect(try machine.type("cat ~/.reach-bar").standardOutput == "🌐 up0\n")
        #expect(printed["reach probes"]?.contains("printer") == true)
        let ran = try ChildProcess.run(["cat", machine.files.path + "/ran"])
        #expect(
            ran.contains("backup /srv") && ran.contains("backup /home") && ran.contains("apt-get -q update")
                && ran.contains("sendmail"))
        #expect(try machine.type("head -c 15 report.html").standardOutput.lowercased().hasPrefix("<!doctype html>"))
        try machine.end()
    }
}
