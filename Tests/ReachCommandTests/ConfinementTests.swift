internal import ReachTesting
internal import Testing

/// `reach` where the kernel may not be asked, or does not tell.
@Suite(.timeLimit(.minutes(1))) struct ConfinementTests {
    private let confine = BuiltProgram(named: "confine")

    private func reach(without what: String, _ arguments: [String]) -> [String] {
        [what, BuiltProgram.reach.path] + arguments
    }

    // peers 60
    @Test func `without netlink a status is unknown, and cannot be observed`() throws {
        let result = try confine.run(reach(without: "no-netlink", ["status", "--json"]))
        #expect(result.status == 4)
        #expect(result.standardOutput.contains("\"status\":\"unknown\""))
        #expect(result.standardOutput.contains("\"reason\":\"cannot-observe\""))
        #expect(result.standardError.contains("Operation not permitted"))
    }

    // peers 60
    @Test(arguments: [["wait"], ["run", "--when", "reachable", "--", "true"], ["links"], ["explain"]])
    func `without netlink nothing that needs it pretends`(arguments: [String]) throws {
        #expect(try confine.run(reach(without: "no-netlink", arguments)).status == 4)
    }

    // peers 59, 60
    @Test func `without netlink a watch says so and goes on trying`() throws {
        let watch = try confine.start(reach(without: "no-netlink", ["watch"]))
        let first = try watch.nextLine()
        #expect(first.contains("\"reason\":\"cannot-observe\""))
        watch.send(15)
        #expect(try watch.finish().status == 0)
    }

    // peers 60: polls every ten seconds
    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `where the kernel answers but does not tell, it is asked every ten seconds`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watch = try confine.start(reach(without: "no-groups", ["watch"]), in: namespace.name)
        #expect(try watch.nextLine().contains("\"status\":\"reachable\""))
        try namespace.run("ip", "route", "del", "default")
        let change = try watch.nextLine(within: .seconds(15))
        #expect(change.contains("\"cause\":\"poll\""))
        #expect(change.contains("\"reason\":\"no-route\""))
        watch.send(15)
        #expect(try watch.finish().status == 0)
    }
}
