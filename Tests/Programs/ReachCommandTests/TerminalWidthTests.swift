import Glibc
import ReachTerminal
import ReachTesting
import Testing

/// What people read on a narrow terminal: no word, no address and no length of a prefix is cut or broken.
@Suite struct WrappedTextTests {
    @Test(
        arguments: [
            ("one two three", 13, ["one two three"]),
            ("one two three", 12, ["one two", "  three"]),
            // Below the second column, unless that leaves too little.
            ("    IPv4  eth0 from 192.0.2.2", 24, ["    IPv4  eth0 from", "          192.0.2.2"]),
            ("2026-11-30 12:00:00  internet is up", 30, ["2026-11-30 12:00:00  internet", "  is up"]),
            // An address that fits further left.
            ("    ADDRESSES  2001:db8:1:2:3:4:5:6/128", 25, ["    ADDRESSES", " 2001:db8:1:2:3:4:5:6/128"]),
            ("    2001:db8:1:2:3:4:5:6/128", 24, ["2001:db8:1:2:3:4:5:6/128"]),
            // What is wider than the terminal is whole, too.
            ("see https://example.org/a/long/page now", 20, ["see", "https://example.org/a/long/page", "  now"]),
            // A command is whole, if it can be.
            ("so `ip route show` says", 17, ["so", "  `ip route show`", "  says"]),
            ("try 'reach queue list --all'.", 20, ["try 'reach queue", "  list --all'."]),
            // Wide characters take two columns.
            ("無線 家庭 network", 13, ["無線 家庭", "  network"]),
            // Colours take no room.
            ("\u{1b}[1mone\u{1b}[0m two", 7, ["\u{1b}[1mone\u{1b}[0m two"]),
            ("\r[####]  50 %\u{1b}[K", 14, ["\r[####]  50 %\u{1b}[K"]), ("", 1, [""]),
        ] as [(String, Int, [String])])
    func `a line breaks between words`(line: String, width: Int, lines: [String]) {
        #expect(WrappedText.broken(line, width: width) == lines)
        let twice = (lines + [""] + lines).joined(separator: "\n")
        #expect(WrappedText.fitted(line + "\n\n" + line, width: width) == twice)
    }

    @Test func `what follows a break begins where it is asked to`() {
        #expect(WrappedText.broken("  ok  route  one two", width: 16, under: 7) == ["  ok  route  one", "       two"])
        #expect(WrappedText.broken("  ok  route  one two", width: 16, under: 13) == ["  ok  route  one", "      two"])
    }
}

@Suite(
    .enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"),
    .enabled(if: TestProgram.path("script") != nil, "there is no script(1)"), .timeLimit(.minutes(2)))
struct TerminalWidthTests {
    /// Command lines of `reach` and `reachd`, and whether all of their words are the same on each terminal: tables and charts differ.
    private static let commands: [(line: String, isText: Bool)] = [
        ("status", true), ("status 198.51.100.7 interface:up0 nosuch.invalid", true), ("status --validated", true),
        ("explain", true), ("explain 2001:db8:1:2:3:4:5:6", true), ("explain --until wifi,network=nosuch", true),
        ("explain --until validated 198.51.100.7", true), ("links", false), ("links --all", false),
        ("queue list", false), ("queue show 1", true), ("queue explain 1", false), ("queue status", true),
        ("queue wait 77", true), ("queue show abc", true),
        ("queue add --dry-run -H X-Long:value --when unmetered https://long-name.example.org/and/a/long/page", true),
        ("history", false), ("history --events", true), ("report", false), ("probes", false), ("top", false),
        ("wait --until validated --timeout 1ms", true), ("statsu", true), ("--versoin", true),
        ("status htp://", true), ("watch --json --pretty", true), ("links nosuch0", true), ("history nosuch", true),
        ("--help", false), ("run --help", false), ("queue add --help", false),
        ("reachd --help", false), ("reachd --versoin", true),
        ("reachd --check-config --config /nonexistent/folder/of/a/long/name/reach.toml", true),
    ]

    /// A machine with two families, a daemon with a probe that is down, and a request that waits.
    private static func withMachine(_ body: (TestNamespace, _ socket: String, _ state: String) throws -> Void) throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "address", "add", "2001:db8:1111:2222:3333:4444:5555:6666/64", "dev", "up0", "nodad")
        let directory = try TemporaryDirectory()
        let file = try directory.file(
            "reach.toml",
            """
            [[network]]
            name = "office"
            prefix = "198.51.100.0/24"
            [[probe]]
            name = "a-server-of-the-office"
            target = "tcp://192.0.2.1:1"
            interval = "1s"

            """, mode: 0o644)
        let socket = directory.path + "/socket"
        let daemon = try BuiltProgram(named: "reachd").start(
            ["--config", file, "--socket", socket, "--state", directory.path, "--events"], in: namespace.name)
        _ = try daemon.nextLine()
        let added = try BuiltProgram.reach.run(
            ["queue", "add", "--socket", socket, "--when", "interface=nosuch0", "https://www.example.org/some/page"],
            in: namespace.name)
        #expect(added.status == 0, "\(added)")
        try body(namespace, socket, directory.path)
        daemon.send(SIGTERM)
        _ = try daemon.finish()
    }

    /// Without what clears the rest of a line.
    private static func words(_ text: String) -> [String] {
        text.split(separator: "\u{1b}[K").joined().split(whereSeparator: \.isWhitespace).map(String.init)
    }

    /// Addresses, prefixes and names of pages.
    private static func isAddress(_ word: String) -> Bool {
        word.contains("/") || word.contains("2001:db8") || word.contains("192.0.2.")
    }

    @Test func `each command breaks its lines between words, on a terminal alone`() throws {
        try Self.withMachine { namespace, socket, state in
            for (line, isText) in Self.commands {
                // A shell joins both streams, as a terminal does.
                let program = line.hasPrefix("reachd ") ? BuiltProgram(named: "reachd") : .reach
                let words = line.hasPrefix("reachd ") ? String(line.dropFirst(7)) : line
                let isRecorded = line.hasPrefix("history") || line.hasPrefix("report")
                let command =
                    "env REACH_SOCKET=\(socket) TERM=dumb LC_ALL=C.UTF-8 \(program.path) \(words)"
                    + (isRecorded ? " --state \(state)" : "")
                func run(_ words: [String]) throws -> String {
                    try BuiltProgram(named: words[0]).run(Array(words.dropFirst()), in: namespace.name).standardOutput
                }
                let plain = try run(["/bin/sh", "-c", "\(command) 2>&1"])
                #expect(!plain.isEmpty, "\(line)")
                for width in [40, 60, 80] {
                    let shown = try run(
                        ["/bin/sh", "-c", "script -qc 'stty cols \(width) rows 50; \(command)' /dev/null </dev/null"])
                    let lines = shown.split(separator: "\r\n").map(String.init)
                    let wide = lines.filter { WrappedText.visibleCount($0) > width && $0.contains(" ") }
                    #expect(wide == [], "reach \(line), \(width) columns")
                    if isText {
                        #expect(Self.words(shown) == Self.words(plain), "reach \(line), \(width) columns")
                    } else if !["top", "--help"].contains(line) {
                        let missing = Set(Self.words(plain).filter(Self.isAddress)).subtracting(Self.words(shown))
                        #expect(missing == [], "reach \(line), \(width) columns:\n\(shown)")
                    }
                }
            }
        }
    }
}
