internal import ReachTesting
internal import Testing

/// Errors of usage: `reach` prints a clear sentence and ends with a fixed status.
@Suite struct UsageTests {
    @Test(arguments: [
        (["status", "--bogus"], "--bogus"),
        (["status", ""], "must not be empty"),
        (["status", "interface:"], "must not be empty"),
        (["status", "interface:a/b"], "cannot be an interface name"),
        (["status", "300.1.2.3"], "not an IPv4 address"),
        (["status", "2001:db8::1::2"], "neither an IPv6 address nor a host name"),
        (["status", "192.0.2.0/33"], "is not a prefix"),
        (["status", "http://"], "without a host"),
        (["status", "http://example.org:99999/"], "port"),
        (["status", "fe80::1%"], "interface name must not be empty"),
        (["status", String(repeating: "a", count: 300)], "too long for a host name"),
        (["status", "interface:" + String(repeating: "a", count: 300)], "too long for an interface name"),
        (["status", "--anchor", "example.org"], "not an IPv4 or IPv6 address"),
        (["status", "--class", "up0=fast"], "is not a class"),
        (["status", "--metered", "up0"], "PATTERN=VALUE"),
        (["watch", "--json", "--pretty"], "exclude each other"),
        (["watch", "--hold-down", "soon"], "is not a duration"),
        (["wait", "--until", "tomorrow"], "is not a condition"),
        (["wait", "--until", "class=slow"], "is not a condition"),
        (["wait", "--timeout", "-1s"], "timeout"),
        (["run", "--when", "reachable"], "Missing the command"),
        (["run", "--", "true"], "--when"),
        (["run", "--while", "any", "--on-loss", "paus", "--", "true"], "did you mean 'pause'?"),
        (["run", "--when", "any", "--scope", "--", "true"], "--scope needs --while"),
        (["run", "--when", "any", "--unit", "a.service"], "--unit needs --while"),
        (["run", "--while", "any", "--unit", "reach@*.target"], "is not the name of a unit"),
        (["run", "--while", "any", "--unit", "a.service", "--", "true"], "--unit and a command exclude each other"),
        (["watch", "--socket", "/s", "--no-daemon"], "exclude each other"),
        (["watch", "--socket", "/s", "--hold-up", "1s"], "--socket and --hold-up exclude each other"),
        (["watch", "--socket", "/s", "--all"], "--socket and --all exclude each other"),
        (["links", "--socket", "/s", "--class", "a=wifi"], "--socket and --class exclude each other"),
        (["nonsense", "more"], "'nonsense' is no command of 'reach': there are status, watch, "),
        (["help", "nosuch"], "'nosuch' is no command of 'reach': there are "),
        (["help", "queue", "lst"], "'lst' is no command; did you mean 'reach queue list'?"),
        (["-v"], "did you mean '--version'?"), (["status", "--versoin"], "did you mean '--version'?"),
        (["wait", "--timeout", "-5"], "'-5' begins like an option"),
        (["queue", "show", "abc"], "'abc' is not the number of a request"),
        (["report", "--json", "--html"], "--json and --html exclude each other"),
        (["explain", "--json", "--until", "wifi"], "--until and --json exclude each other"),
        (["statsu"], "'statsu' is no command; did you mean 'reach status'?"),
        (["wat", "--until", "wifi"], "'wat' is no command; did you mean 'reach wait'?"),
        (["queue", "lst"], "'lst' is no command; did you mean 'reach queue list'?"),
        (["192.0.2.1"], "'192.0.2.1' is no command; did you mean 'reach status 192.0.2.1'?"),
        (["wait", "--until", "wify"], "did you mean 'wifi'?"),
        (["status", "--class", "up0=wird"], "did you mean 'wired'?"),
        (["queue", "list", "--state", "waitng"], "did you mean 'waiting'?"),
        (["queue", "add", "--priority", "hihg", "http://h/"], "did you mean 'high'?"),
        (["queue", "add", "--key", "k", "--mode", "repalce", "http://h/"], "did you mean 'replace'?"),
    ])
    func `an error on the command line is reported, and ends with 2`(arguments: [String], word: String) throws {
        let result = try BuiltProgram.reach.run(arguments)
        #expect(result.status == 2)
        #expect(result.standardOutput.isEmpty)
        #expect(result.standardError.contains(word), "\(result.standardError)")
    }

    @Test func `a command that reach-fleet does not have is an error of usage, also of its help`() throws {
        for words in [["help", "statsu"], ["statsu"], ["statsu", "--json"]] {
            let result = try BuiltProgram(named: "reach-fleet").run(words)
            #expect(result.status == 2 && result.standardOutput.isEmpty)
            #expect(
                result.standardError == "reach-fleet: 'statsu' is no command; did you mean 'reach-fleet status'?\n")
        }
        let good = try BuiltProgram(named: "reach-fleet").run(["help", "status"])
        #expect(good.status == 0 && good.standardOutput.contains("USAGE: reach-fleet status"))
    }

    @Test func `control characters of a target never reach the terminal`() throws {
        let result = try BuiltProgram.reach.run(["status", "\u{1b}]0;title\u{7}"])
        #expect(result.status == 2)
        #expect(!result.standardError.unicodeScalars.contains { $0.value == 0x1b || $0.value == 7 })
    }

    @Test func `a missing interface is not reachable, and is reported as missing`() throws {
        let result = try BuiltProgram.reach.run(["status", "interface:nosuch0"])
        #expect(result.status == 1)
        #expect(result.standardOutput.contains("no interface has that name"))
    }

    @Test(arguments: ["network=office", "not network=hotspot", "unmetered, not network=hotspot"])
    func `a condition about networks is an error without a daemon, since no one knows their names`(text: String) throws
    {
        for command in [["wait", "--until"], ["run", "--when"]] {
            let more = command[0] == "run" ? ["--", "true"] : []
            let result = try BuiltProgram.reach.run(command + [text, "--no-daemon"] + more)
            #expect(result.status == 4)
            #expect(result.standardError.contains("needs reachd, which knows the names"))
        }
    }

    @Test func `waiting for internet fails without validation`() throws {
        let result = try BuiltProgram.reach.run(["wait", "--until", "internet"])
        #expect(result.status == 4)
        #expect(result.standardError.contains("\"internet\" needs reachd with [connectivity] endpoints"))
    }

    @Test func `the loopback device answers by name and by address`() throws {
        let result = try BuiltProgram.reach.run(["status", "--json", "localhost", "127.0.0.1", "::1", "interface:lo"])
        #expect(result.status == 0)
        #expect(result.lines.count == 4)
        #expect(result.lines.allSatisfy { $0.contains("\"class\":\"loopback\"") })
    }
}
