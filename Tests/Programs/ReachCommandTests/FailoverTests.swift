internal import Glibc
internal import ReachTesting
internal import Testing

/// The recipe for two lines, as reach-recipes(7) has it, with lines that fail at each layer:
///
///     machine up0 192.0.2.2 ------- router
///             lte0 198.51.100.130 -- other router -- the same Internet
@Suite(
    .enabled(if: SmallInternet.whyNot == nil, "\(SmallInternet.whyNot ?? "")"),
    .enabled(if: getuid() == 0, "only root can set routes by a hook"), .timeLimit(.minutes(5)))
struct FailoverTests {
    private let small: SmallInternet
    private let other: TestNamespace
    private let files: TemporaryDirectory
    private let daemon: RunningProgram

    init() throws {
        small = try SmallInternet()
        other = try TestNamespace()
        files = try TemporaryDirectory()
        let (machine, internet) = (small.machine, small.internet)
        try machine.run("ip", "route", "replace", "default", "via", "192.0.2.1", "dev", "up0", "metric", "100")
        try machine.run("ip", "route", "del", "default", "metric", "0")
        try machine.run("ip", "-6", "route", "del", "default")
        try Self.join(machine, "lte0", "198.51.100.130/25", to: other, "lte1", "198.51.100.129/25")
        try Self.join(other, "wan2", "203.0.113.130/25", to: internet, "wan3", "203.0.113.129/25")
        try other.run("ip", "route", "add", "198.51.100.0/25", "via", "203.0.113.129")
        try other.run("sysctl", "-qw", "net.ipv4.ip_forward=1")
        try internet.run("ip", "route", "add", "198.51.100.128/25", "via", "203.0.113.130")
        try machine.run("ip", "route", "add", "default", "via", "198.51.100.129", "dev", "lte0", "metric", "200")
        daemon = try Self.start(on: machine, files)
    }

    private static func join(
        _ near: TestNamespace, _ link: String, _ address: String, to far: TestNamespace, _ peer: String,
        _ farAddress: String
    ) throws {
        try near.run("ip", "link", "add", link, "type", "veth", "peer", "name", peer, "netns", far.name)
        for (namespace, link, address) in [(near, link, address), (far, peer, farAddress)] {
            try namespace.run("ip", "link", "set", link, "addrgenmode", "none")
            try namespace.run("ip", "link", "set", link, "up")
            try namespace.run("ip", "address", "add", address, "dev", link)
        }
    }

    /// Starts the daemon with the recipe's files.
    private static func start(on machine: TestNamespace, _ files: TemporaryDirectory) throws -> RunningProgram {
        for step in Recipes.steps(of: "TWO UPLINKS") {
            switch step {
            case .script(let lines): try files.file("line", lines.joined(separator: "\n") + "\n", mode: 0o755)
            case .file(let lines):
                // By address: names are tested elsewhere, and a test need not wait for an interval of 30 s.
                let text = lines.joined(separator: "\n").replacing("/etc/reach/line", with: files.path + "/line")
                    .replacing(#/endpoints = .*/#, with: #"endpoints = ["http://198.51.100.80/204"]"#)
                    .replacing("30s", with: "10s")
                try files.file("reach.toml", text + "\n")
            default: break
            }
        }
        let daemon = try BuiltProgram(named: "reachd").start(
            ["--config", files.path + "/reach.toml", "--socket", files.path + "/socket", "--state", files.path]
                + ["--events"], in: machine.name)
        _ = try daemon.nextLine(within: .seconds(20))
        return daemon
    }

    /// The link by which the machine sends to the Internet now.
    private var link: String {
        let words = (try? small.machine.run("ip", "route", "get", "198.51.100.80"))?.split(separator: " ") ?? []
        return words.firstIndex(of: "dev").map { String(words[$0 + 1]) } ?? ""
    }

    private func expectLink(_ expected: String, _ comment: Comment) {
        let deadline = ContinuousClock.now + .seconds(60)
        while link != expected, ContinuousClock.now < deadline { usleep(100_000) }
        #expect(link == expected, comment)
    }

    private func goDark(_ router: TestNamespace) throws {
        let chain = "add table inet off; add chain inet off f { type filter hook forward priority 0; policy drop; }"
        try router.run("nft", chain)
    }

    private func comeBack(_ router: TestNamespace) throws { try router.run("nft", "delete table inet off") }

    /// The routes of both lines that the recipe sets.
    private func expectBoth(_ comment: Comment) {
        let deadline = ContinuousClock.now + .seconds(60)
        var routes = ""
        repeat {
            routes = (try? small.machine.run("ip", "route", "show", "default")) ?? ""
            if routes.contains("metric 10 "), routes.contains("metric 20 ") { return }
            usleep(100_000)
        } while ContinuousClock.now < deadline
        Issue.record("\(comment): \(routes)")
    }

    @Test func `everything goes over to the other line wherever the first one fails, and comes back`() throws {
        defer {
            small.machine.remove()
            other.remove()
        }
        expectBoth("both lines work")
        expectLink("up0", "both lines work")

        try goDark(small.router)
        expectLink("lte0", "nothing answers behind the first router")
        try comeBack(small.router)
        expectLink("up0", "the provider is back")

        try small.router.run("ip", "link", "set", "up1", "down")
        expectLink("lte0", "the cable is out")
        try small.router.run("ip", "link", "set", "up1", "up")
        expectLink("up0", "the cable is back")

        try small.router.run("ip", "address", "del", "192.0.2.1/24", "dev", "up1")
        expectLink("lte0", "the router does not answer")
        try small.router.run("ip", "address", "add", "192.0.2.1/24", "dev", "up1")
        expectLink("up0", "the router is back")

        try goDark(small.router)
        expectLink("lte0", "the first line is dark")
        try goDark(other)
        expectLink("up0", "both are dark: the first one is as good as the other")
        try comeBack(other)
        expectLink("lte0", "the second line is back first")
        try comeBack(small.router)
        expectLink("up0", "both lines work again")

        daemon.send(SIGTERM)
        #expect(try daemon.finish(within: .seconds(5)).status == 0)
    }
}
