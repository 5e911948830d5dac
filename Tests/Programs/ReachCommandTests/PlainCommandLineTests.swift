internal import ArgumentParser
internal import ReachCore
internal import ReachTesting
internal import Testing

@testable import reach

/// Command lines that are read without ArgumentParser mean what ArgumentParser says.
@Suite struct PlainCommandLineTests {
    /// Words that a plain line can have, and some that make it no plain one, or an error.
    private static let words = [
        "--json", "--pretty", "--validated", "--no-daemon", "--socket", "/s", "internet", "192.0.2.1", "help",
        "interface:lo",
        "--all", "--", "", "--until", "wifi", "--timeout", "5s",
    ]

    /// All lines of up to three of the words.
    private static func lines(of command: String) -> [[String]] {
        var lines: [[String]] = [[command]]
        var longest = lines
        for _ in 1...3 {
            longest = longest.flatMap { line in words.map { line + [$0] } }
            lines += longest
        }
        return lines
    }

    @Test(arguments: ["status", "watch", "wait"])
    func `a plain line means the same to ArgumentParser`(command: String) throws {
        var count = 0
        for line in Self.lines(of: command) {
            guard let plain = PlainCommandLine(line) else { continue }
            count += 1
            // Every line of up to two words; reading takes some milliseconds in a build for debugging.
            guard line.count < 4 || count.isMultiple(of: 4) else { continue }
            let parsed = try #require(try? Reach.parseAsRoot(line), "ArgumentParser refuses \(line)")
            #expect(Meaning(plain) == Meaning(parsed), "\(line)")
        }
        #expect(count > 100)
    }

    @Test(arguments: [
        [], ["status"], ["status", "--json"], ["status", "--validated", "internet"],
        ["status", "--socket", "/s", "a.example"],
        ["watch"], ["watch", "--json", "--no-daemon", "interface:lo"], ["wait"],
        ["wait", "--until", "wifi", "--until", "answers", "--timeout", "5s", "https://a.example/"],
    ])
    func `the usual lines are plain`(line: [String]) { #expect(PlainCommandLine(line) != nil) }

    @Test(arguments: [
        ["--json"], ["--version"], ["help"], ["statu"], ["links"], ["status", "--help"], ["status", "-h"],
        ["status", "--"],
        ["status", "--jso"], ["status", "--json=1"], ["status", "--json\u{301}"], ["status", "-\u{301}"],
        ["status", ""],
        ["status", "--socket"], ["status", "--socket", "--json"], ["status", "--socket", "/s", "--no-daemon"],
        ["status", "--socket=/s"], ["status", "--socket", "/s", "--socket", "/s"],
        ["status", "--validated", "a.example"],
        ["status", "--mark", "1"], ["watch", "--json", "--pretty"], ["watch", "a", "b"], ["watch", "--all"],
        ["wait", "--timeout=5s"], ["wait", "--timeout", "-5"], ["wait", "--timeout", "1s", "--timeout", "2s"],
        ["wait", "--until", "nosuch"], ["wait", "a", "b"], ["wait", "--if-expected"],
        ["---completion", "status", "--", "positional@0"], ["status", "--generate-completion-script", "bash"],
    ])
    func `all else is for ArgumentParser`(line: [String]) { #expect(PlainCommandLine(line) == nil) }

    @Test func `both ways print the same`() throws {
        for targets in [["interface:lo"], ["127.0.0.1", "interface:nosuch0"]] {
            // A mark of 0 is no mark, and no plain line has one.
            let plain = try BuiltProgram.reach.run(["status", "--no-daemon"] + targets)
            let parsed = try BuiltProgram.reach.run(["status", "--no-daemon", "--mark", "0"] + targets)
            #expect(plain.standardOutput == parsed.standardOutput && plain.status == parsed.status)
        }
    }
}

/// What a command line asks for, as values that can be compared.
private enum Meaning: Equatable {
    case status([Target], json: Bool, validated: Bool, DaemonOptions.Source, EngineOptionsText)
    case watch(Target, WatchQuery.Form, DaemonOptions.Source, EngineOptionsText)
    /// Its target, conditions, timeout and the rest as text, since they cannot be compared.
    case wait(String, DaemonOptions.Source, EngineOptionsText)
    case other

    /// Every option of the engine, as text, since the options themselves cannot be compared.
    typealias EngineOptionsText = String

    init(_ plain: PlainCommandLine) {
        switch plain {
        case .status(let query): self.init(query)
        case .watch(let query): self.init(query)
        case .wait(let query): self.init(query)
        }
    }

    init(_ parsed: any ParsableCommand) {
        switch parsed {
        case let command as StatusCommand: self.init(command.query)
        case let command as WatchCommand: self.init(command.query)
        case let command as WaitCommand: self.init(command.query)
        default: self = .other
        }
    }

    init(_ query: StatusQuery) {
        self = .status(
            query.targets, json: query.json, validated: query.validated, query.source, "\(query.kernelOptions)")
    }

    init(_ query: WaitQuery) {
        let asked = "\(query.target) \(query.terms) \(String(describing: query.timeout)) \(query.ifExpected)"
        self = .wait(asked, query.source, "\(query.kernelOptions)")
    }

    init(_ query: WatchQuery) { self = .watch(query.target, query.form, query.source, "\(query.kernelOptions)") }
}
