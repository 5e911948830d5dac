internal import ReachCore
internal import ReachRecords
internal import ReachTesting
internal import Testing

/// Compares the manual with the program.
@Suite struct ManualTests {
    private static let reach = ManualPage("reach.1")
    private static let events = ManualPage("reach-events.7")
    private static let commands = [
        "status", "watch", "wait", "run", "units", "links", "explain", "top", "history", "report", "probe", "probes",
        "hooks",
        "queue",
        "schema",
    ]
    private static let queueCommands = [
        "add", "import", "list", "show", "explain", "status", "hold", "release", "cancel", "retry", "wait", "result",
        "top",
    ]

    @Test func `every command is in the manual, and no other`() throws {
        let help = try BuiltProgram.reach.run(["--help"]).lines
        let listed = Self.commands(in: help)
        // `reach fleet` is a program of its own with a manual of its own.
        #expect(listed.sorted() == (Self.commands + ["fleet"]).sorted())
        #expect(Self.reach.subsections(of: "COMMANDS") == Self.commands + ["fleet", "help"])
        #expect(Self.commands(in: try BuiltProgram.reach.run(["queue", "--help"]).lines) == Self.queueCommands)
        #expect(Self.reach.subsections(of: "COMMANDS OF THE QUEUE") == Self.queueCommands)
    }

    private static func commands(in help: [String]) -> [String] {
        help.drop { !$0.contains("SUBCOMMANDS:") }.dropFirst()
            .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") && !$0.hasPrefix("  See") }
            .compactMap { $0.split(separator: " ").first.map(String.init) }
    }

    @Test(arguments: queueCommands)
    func `every option of a command of the queue is in the manual, and no other`(command: String) throws {
        // Options of every command of the queue.
        let shared: Set = ["--json", "--socket", "--help", "--version"]
        let offered = try Self.options(of: ["queue", command])
        #expect(offered == Self.reach.options(of: "COMMANDS OF THE QUEUE", command).union(shared))
    }

    @Test(arguments: commands)
    func `every option of a command is in the manual, and no other`(command: String) throws {
        let ofEvery = Self.reach.options(of: "OPTIONS OF EVERY COMMAND")
        let offered = try Self.options(of: [command])
        // These commands do not observe the kernel.
        let shared =
            ["units", "top", "history", "report", "probe", "probes", "hooks", "queue", "schema"].contains(command)
            ? ofEvery.intersection(offered) : ofEvery
        #expect(offered == Self.reach.options(of: "COMMANDS", command).union(shared))
    }

    @Test func `the manual mentions no option that no command has`() throws {
        var all = try Self.commands.reduce(into: Self.options(of: [])) { try $0.formUnion(Self.options(of: [$1])) }
        for command in Self.queueCommands { all.formUnion(try Self.options(of: ["queue", command])) }
        #expect(Self.reach.mentionedOptions.subtracting(all) == [])
        #expect(Self.events.mentionedOptions.subtracting(all) == [])
    }

    @Test func `every word that the JSON uses is in the manual`() {
        let words = Self.events.arguments(of: "Cm")
        let used =
            Reason.allCases.map(\.rawValue) + RootCause.Kind.allCases.map(\.rawValue) + Cause.allCases.map(\.rawValue)
            + LinkClass.allCases.map(\.rawValue)
            + Connectivity.allCases.map(\.rawValue) + ReachabilityStatus.allCases.map(\.rawValue)
            + ReachabilityChange.Aspect.allCases.map(\.rawValue)
            + Explanation.Step.Subject.allCases.map(\.rawValue) + Explanation.Step.Finding.allCases.map(\.rawValue)
            + Diagnosis.Step.Subject.allCases.map(\.rawValue) + Diagnosis.Outcome.allCases.map(\.rawValue)
            + Diagnosis.Party.allCases.map(\.rawValue)
        #expect(Set(used).subtracting(words) == [])
    }

    @Test func `every term of a condition is in its section of the manual`() {
        let terms = Set(NetworkCondition.words.map { String($0.prefix { $0 != "=" && $0 != " " }) })
        // Classes have one item, and "internet" that of "validated".
        let elsewhere = LinkClass.allCases.map(\.rawValue) + ["class", "internet"]
        #expect(terms.subtracting(elsewhere).subtracting(Self.reach.items(of: "Cm", "CONDITIONS")) == [])
    }

    @Test func `every class is in the manual of conditions`() {
        #expect(Set(LinkClass.allCases.map(\.rawValue)).subtracting(Self.reach.arguments(of: "Cm")) == [])
    }

    @Test func `every key that is printed is in the manual`() throws {
        var printed = try BuiltProgram.reach.run(["status", "--json", "internet", "127.0.0.1"]).standardOutput
        printed += try BuiltProgram.reach.run(["links", "--json", "--all"]).standardOutput
        printed += try BuiltProgram.reach.run(["explain", "--json"]).standardOutput
        printed += try BuiltProgram.reach.run(["explain", "--probe", "--json", "tcp://127.0.0.1:1"]).standardOutput
        #expect(JSONKeys.all(in: printed).subtracting(Self.events.arguments(of: "Va")) == [])
        let expected: Set = ["v", "held", "neighbour", "internet", "steps", "text", "party"]
        #expect(JSONKeys.all(in: printed).isSuperset(of: expected))
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `every key of the stream is in the manual`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let watch = try BuiltProgram.reach.start(["watch", "--all"], in: namespace.name)
        var printed = try watch.nextLine()
        try namespace.vethPair()
        try namespace.run("ip", "rule", "add", "priority", "90", "to", "203.0.113.0/24", "lookup", "7")
        try namespace.run("ip", "nexthop", "add", "id", "5", "via", "192.0.2.1", "dev", "up0")
        try namespace.run("ip", "neighbour", "add", "192.0.2.9", "dev", "up0", "lladdr", "02:00:00:00:00:09")
        try namespace.run("ip", "route", "replace", "default", "nhid", "5")
        for type in ["address", "rule", "nexthop", "neighbour", "\"replaces\":true"] {
            repeat { printed += try watch.nextLine() } while !printed.contains(type)
        }
        watch.send(15)
        printed += try watch.finish().standardOutput
        #expect(JSONKeys.all(in: printed).subtracting(Self.events.arguments(of: "Va")) == [])
    }

    private static func options(of command: [String]) throws -> Set<String> {
        let help = try BuiltProgram.reach.run(command + ["--help"]).lines
        return help.filter { $0.hasPrefix("  -") }.reduce(into: []) { options, line in
            let names = line.split(separator: " ").prefix { $0.hasPrefix("-") }
            options.formUnion(names.map { String($0.filter { $0 != "," }) }.filter { $0.hasPrefix("--") })
        }
    }
}
