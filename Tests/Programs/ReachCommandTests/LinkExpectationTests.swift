import Glibc
import ReachCore
import ReachTesting
import Testing

@testable import reach

@Suite struct LinkExpectationTests {
    private func link(
        _ linkClass: LinkClass, isUp: Bool = true, kind: String? = nil, controller: String? = nil
    ) -> LinkReport {
        var link = Link(index: 7, name: "x7")
        link.flags = isUp ? [.up] : []
        link.kind = kind
        return LinkReport(
            link, linkClass: linkClass, controller: controller, lower: [], trouble: nil, brokenLower: nil,
            isMetered: false,
            addresses: [], carriesInternet: [])
    }

    @Test func `a link that somebody has set up is meant to be up, even without a cable`() {
        let expectation = LinkExpectation()
        for linkClass in [LinkClass.wired, .wifi, .wwan, .bluetooth, .other] {
            #expect(expectation.isMet(by: link(linkClass)))
            #expect(!expectation.isMet(by: link(linkClass, isUp: false)))
        }
        #expect(expectation.isMet(by: link(.virtual, kind: "veth")), "a container's only link")
    }

    @Test func `links that lead nowhere by themselves are not`() {
        let expectation = LinkExpectation()
        #expect(!expectation.isMet(by: link(.loopback)))
        #expect(!expectation.isMet(by: link(.tunnel, kind: "wireguard")))
        #expect(!expectation.isMet(by: link(.virtual, kind: "bridge")), "that of containers")
        #expect(!expectation.isMet(by: link(.virtual, kind: "dummy")))
        #expect(!expectation.isMet(by: link(.virtual, kind: "veth", controller: "docker0")))
        #expect(!LinkExpectation(networkd: nil, isRadioOff: true).isMet(by: link(.wifi)))
    }

    @Test(arguments: [
        ("ADMIN_STATE=unmanaged\n", true, false), ("ADMIN_STATE=pending\n", true, true),
        ("ADMIN_STATE=configuring\nREQUIRED_FOR_ONLINE=yes\nACTIVATION_POLICY=up\n", true, true),
        ("ADMIN_STATE=configured\nREQUIRED_FOR_ONLINE=no\n", false, false),
        ("ADMIN_STATE=configuring\nREQUIRED_FOR_ONLINE=yes\nACTIVATION_POLICY=manual\n", true, false),
        ("ADMIN_STATE=failed\nREQUIRED_FOR_ONLINE=yes\n", true, false), ("", true, false), ("=\n\u{0}", true, false),
    ])
    func `where systemd-networkd manages a link it says whether it is needed and about to come`(
        text: String, whenUp: Bool, whenDown: Bool
    ) {
        let expectation = LinkExpectation(networkd: NetworkdLink(text))
        #expect(expectation.isMet(by: link(.wired)) == whenUp)
        #expect(expectation.isMet(by: link(.wired, isUp: false)) == whenDown)
    }
}

/// `reach wait --if-expected` on a real kernel.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct ExpectedWaitTests {
    private let namespace: TestNamespace

    init() throws { namespace = try TestNamespace() }

    private func wait(_ words: String..., on arguments: [String] = ["--no-daemon"]) throws -> BuiltProgram.Result {
        try BuiltProgram.reach.run(["wait", "--if-expected"] + arguments + words, in: namespace.name)
    }

    @Test func `it ends at once where no link is up, and waits for a link without a carrier`() throws {
        let alone = try wait()
        #expect(alone.status == 75 && alone.standardError == "reach: no link is meant to be up\n", "\(alone)")
        #expect(try wait("--until", "not-reachable").status == 0, "what holds already comes first")
        try namespace.run("ip", "link", "add", "up0", "type", "veth", "peer", "name", "far0")
        #expect(try wait().status == 75)
        try namespace.run("ip", "link", "set", "up0", "up")
        #expect(try wait("--timeout", "300ms").status == 124)
        #expect(try wait("--timeout", "300ms", "interface:up0").status == 124)
        #expect(try wait("--timeout", "300ms", "interface:far0").status == 75)
    }

    @Test func `it ends when the last link is set down while it waits, also with a daemon`() throws {
        try namespace.vethPair()
        #expect(try wait().status == 0)
        let directory = try TemporaryDirectory()
        let socket = directory.path + "/socket"
        let daemon = try BuiltProgram(named: "reachd").start(
            ["--config", "/dev/null", "--socket", socket, "--state", directory.path + "/state", "--events"],
            in: namespace.name)
        _ = try daemon.nextLine()
        for arguments in [["--no-daemon"], ["--socket", socket]] {
            try namespace.run("ip", "link", "set", "up0", "up")
            let waiting = try BuiltProgram.reach.start(
                ["wait", "--if-expected", "--until", "wifi"] + arguments, in: namespace.name)
            usleep(500_000)
            try namespace.run("ip", "link", "set", "up0", "down")
            #expect(try waiting.finish(within: .seconds(10)).status == 75)
        }
        daemon.send(SIGTERM)
        _ = try daemon.finish()
    }
}
