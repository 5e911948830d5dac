internal import ReachTesting
internal import Testing

/// `reach` where the kernel cannot be queried, or sends no notices.
@Suite(.timeLimit(.minutes(1))) struct ConfinementTests {
    private let confine = BuiltProgram(named: "confine")

    private func reach(without what: String, _ arguments: [String]) -> [String] {
        [what, BuiltProgram.reach.path] + arguments
    }

    @Test func `without netlink a status is unknown, with the reason cannot-observe`() throws {
        let result = try confine.run(reach(without: "no-netlink", ["status", "--json"]))
        #expect(result.status == 4)
        #expect(result.standardOutput.contains("\"status\":\"unknown\""))
        #expect(result.standardOutput.contains("\"reason\":\"cannot-observe\""))
        #expect(result.standardError.contains("Operation not permitted"))
    }

    @Test(arguments: [["wait"], ["run", "--when", "reachable", "--", "true"], ["links"], ["explain"]])
    func `without netlink commands that need it fail`(arguments: [String]) throws {
        #expect(try confine.run(reach(without: "no-netlink", arguments)).status == 4)
    }

    @Test func `without netlink a watch reports that and keeps retrying`() throws {
        let watch = try confine.start(reach(without: "no-netlink", ["watch"]))
        let first = try watch.nextLine()
        #expect(first.contains("\"reason\":\"cannot-observe\""))
        watch.send(15)
        #expect(try watch.finish().status == 0)
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `a kernel that answers but sends no notices is polled every ten seconds`() throws {
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
