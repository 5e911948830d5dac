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

        init(_ configuration: String, environment: [String: String?] = [:]) throws {
            namespace = try TestNamespace()
            let peer = try namespace.vethPair()
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
}
