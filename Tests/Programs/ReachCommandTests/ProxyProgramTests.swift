internal import Glibc
internal import ReachCore
internal import ReachTesting
internal import Testing

/// A network in which only a proxy answers: no name server, and nothing behind the gateway.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct ProxyProgramTests {
    private let reach = BuiltProgram.reach

    private struct Stage {
        let namespace: TestNamespace
        let proxy: ScriptedServer
        let directory: TemporaryDirectory
        let daemon: RunningProgram
        var socket: String { directory.path + "/socket" }

        /// - Parameter isProxyOnly: Whether no default route leads to anything else.
        init(_ configuration: String, environment: [String: String?] = [:], isProxyOnly: Bool = false) throws {
            namespace = try TestNamespace()
            let peer = try namespace.vethPair()
            if isProxyOnly { try namespace.run("ip", "route", "del", "default") }
            proxy = try ScriptedServer(in: peer, at: IPAddress(ipv4: 0xc000_0201), port: 3128) { connection in
                let isForProxy = connection.readRequest().hasPrefix("GET http://")
                connection.write(
                    "HTTP/1.1 \(isForProxy ? "204 No Content" : "400 Bad Request")\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                )
            }
            directory = try TemporaryDirectory()
            let file = try directory.file(
                "reach.toml",
                "[connectivity]\nendpoints = [\"http://probe.example.org/204\"]\ninterval = \"10s\"\ntimeout = \"2s\"\n"
                    + configuration)
            daemon = try BuiltProgram(named: "reachd").start(
                ["--config", file, "--socket", directory.path + "/socket", "--state", directory.path + "/state"],
                environment: environment, in: namespace.name)
            for _ in 0..<100 where access(directory.path + "/socket", F_OK) != 0 { usleep(50_000) }
        }

        func run(_ words: String...) throws -> BuiltProgram.Result {
            try BuiltProgram.reach.run(words + ["--socket", socket], in: namespace.name)
        }
    }

    private static let url = "http://shop.example.org/order"

    @Test func `checks and requests leave by the proxies of the configuration`() throws {
        let stage = try Stage(
            "proxy = \"http://192.0.2.1:3128\"\n", environment: ["http_proxy": nil, "all_proxy": nil])
        defer { stage.daemon.send(SIGKILL) }
        #expect(try stage.run("wait", "--until", "internet", "--timeout", "8s").status == 0)
        let id = try stage.run("queue", "add", Self.url).lines.first ?? ""
        #expect(try stage.run("queue", "wait", id, "--timeout", "8s").status == 0)
        #expect(stage.proxy.requests.values.contains { $0.hasPrefix("GET \(Self.url) ") })
    }

    @Test func `a request may name a proxy, or ask for none`() throws {
        let stage = try Stage("proxy = \"none\"\n", environment: ["http_proxy": "http://192.0.2.1:3128"])
        defer { stage.daemon.send(SIGKILL) }
        let id =
            try stage.run("queue", "add", "-x", "http://192.0.2.1:3128", "--when", "reachable", Self.url).lines.first
            ?? ""
        #expect(try stage.run("queue", "wait", id, "--timeout", "8s").status == 0)
        let shown = try stage.run("queue", "show", "--json", id).standardOutput
        #expect(shown.contains("\"proxy\":\"http://192.0.2.1:3128\""), "\(shown)")
        let direct = try stage.run("queue", "add", Self.url).lines.first ?? ""
        #expect(try stage.run("queue", "wait", direct, "--timeout", "2s").status == 124, "no one answers for the name")
        let refused = try stage.run("queue", "add", "-x", "http://u:secret@192.0.2.1:3128", Self.url)
        #expect(refused.status == 2 && !refused.standardError.contains("secret"), "\(refused)")
        #expect(try stage.run("wait", "--until", "internet", "--timeout", "0").status != 0)
    }

    @Test func `without a default route the path to the proxy is the path to the Internet, for what goes by it`() throws
    {
        let stage = try Stage(
            "proxy = \"http://192.0.2.1:3128\"\n", environment: ["http_proxy": nil, "all_proxy": nil], isProxyOnly: true
        )
        defer { stage.daemon.send(SIGKILL) }
        #expect(try stage.run("wait", "--until", "internet", "--timeout", "8s").status == 0)
        let state = try JSONReader.read(Array(try stage.run("status", "--json").standardOutput.utf8))
        #expect(state["status"]?.string == "reachable" && state["connectivity"]?.string == "full")
        #expect(state["ipv4"]?["proxy"]?.string == "192.0.2.1")
        #expect(try stage.run("status").standardOutput.contains("by the proxy 192.0.2.1"))
        let id = try stage.run("queue", "add", "--when", "validated", Self.url).lines.first ?? ""
        #expect(try stage.run("queue", "wait", id, "--timeout", "8s").status == 0)
        // A host that no route leads to stays without a path, and so does what asks for no proxy.
        #expect(try stage.run("status", "203.0.113.9").status == 1)
        let direct = try stage.run("queue", "add", "-x", "none", "http://203.0.113.9/").lines.first ?? ""
        #expect(try stage.run("queue", "wait", direct, "--timeout", "1s").status == 124)
        #expect(try stage.run("status", "203.0.113.9").standardOutput.contains("not reachable"))
        // A default route takes the place of the proxy's path, and its loss brings that back.
        let watch = try reach.start(["watch", "--json", "--socket", stage.socket], in: stage.namespace.name)
        defer { watch.send(SIGKILL) }
        func waitForPath(_ isRight: (_ ipv4: JSONValue, _ status: String?) -> Bool) throws {
            while true {
                let event = try JSONReader.read(Array(try watch.nextLine().utf8))
                if let path = event["status"]?["ipv4"], isRight(path, event["status"]?["status"]?.string) { return }
            }
        }
        try stage.namespace.run("ip", "route", "add", "default", "via", "192.0.2.1")
        try waitForPath { path, _ in path["gateway"]?.string == "192.0.2.1" && path["proxy"] == nil }
        try stage.namespace.run("ip", "route", "del", "default")
        try waitForPath { path, _ in path["proxy"]?.string == "192.0.2.1" }
        try stage.namespace.run("ip", "address", "flush", "dev", "up0")
        try waitForPath { _, status in status == "not-reachable" }
    }
}
