import ReachCore
import ReachSession
import ReachTesting
import Testing

/// Sessions behind proxies.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct ProxyTests {
    /// A machine whose only neighbour is a proxy, which knows a server that the machine cannot reach.
    private final class Scene {
        let machine: TestNamespace
        let proxy: TestProxy
        let near: ScriptedServer
        let far: ScriptedServer
        let session: RequestSession

        init(_ kind: TestProxy.Kind, login: TestProxy.Login? = nil, url: (UInt16) -> String) throws {
            machine = try TestNamespace()
            let peer = try machine.vethPair()
            near = try ScriptedServer(in: peer, at: IPAddress(ipv4: 0xc000_0201)) { connection in
                connection.write(SessionStage.echo(connection.readRequest()))
            }
            far = try ScriptedServer { connection in
                let request = connection.readRequest()
                let to = request.split(separator: " ").dropFirst().first?.split(separator: "?").dropFirst().first
                connection.write(
                    request.contains("/go?")
                        ? "HTTP/1.1 302 Found\r\nLocation: \(to ?? "")\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                        : SessionStage.echo(request))
            }
            proxy = try TestProxy(
                kind, to: far.port, login: login, in: peer, at: IPAddress(ipv4: 0xc000_0201))
            var options = RequestSessionOptions()
            options.namespace = machine.descriptor
            options.proxies = ProxySettings(
                try Proxy(url(proxy.port)), exceptions: ProxyExceptions("192.0.2.0/24"))
            session = try RequestSession(options: options)
        }

        deinit { machine.remove() }
    }

    @Test(arguments: [TestProxy.Kind.http, .socks5])
    func `a request for a host that has no name here goes through the proxy`(kind: TestProxy.Kind) async throws {
        let scene = try Scene(kind) { "\(kind == .http ? "http" : "socks5h")://192.0.2.1:\($0)" }
        let value = try await scene.session.get("http://far.example/x").value()
        #expect(value?.json?["line"]?.string?.hasSuffix("/x HTTP/1.1") == true)
        #expect(scene.proxy.targets.values == [kind == .http ? "http://far.example/x" : "far.example:80"])
    }

    @Test(arguments: ["http://far.example/x", "http://203.0.113.9/x"], [false, true])
    func `the path that counts is the one to the proxy, whatever link has the Internet`(
        url: String, hasInternet: Bool
    ) async throws {
        let scene = try Scene(.http) { "http://192.0.2.1:\($0)" }
        try scene.machine.run("ip", "route", "flush", "default")
        if hasInternet {
            try scene.machine.run("ip", "link", "add", "mob0", "type", "veth", "peer", "name", "mob1")
            try scene.machine.run("ip", "address", "add", "198.51.100.2/24", "dev", "mob0")
            try scene.machine.run("ip", "link", "set", "mob0", "up")
            try scene.machine.run("ip", "link", "set", "mob1", "up")
            try scene.machine.run("ip", "route", "add", "default", "via", "198.51.100.1")
        }
        let value = try await scene.session.get(url).value()
        #expect(value?.json?["line"]?.string?.hasSuffix("/x HTTP/1.1") == true)
        #expect(scene.proxy.targets.values == [url])
    }

    @Test func `each hop of a redirect goes through the proxy of its own URL, or through none`() async throws {
        let scene = try Scene(.http) { "http://192.0.2.1:\($0)" }
        let direct = "http://192.0.2.1:\(scene.near.port)/end"
        try await scene.session.get("http://far.example/go?\(direct)").response()
        #expect(scene.proxy.targets.values == ["http://far.example/go?\(direct)"])
        #expect(scene.near.requests.values.count == 1)
    }

    @Test func `a proxy that wants other credentials ends the request with a word of its own`() async throws {
        let login = TestProxy.Login(user: "me", password: "secret")
        let scene = try Scene(.http, login: login) { "http://me:wrong@192.0.2.1:\($0)" }
        let word = await failure { try await scene.session.get("http://far.example/").response() }
        #expect(word == "response proxy-authentication")
        #expect(scene.far.requests.values.isEmpty)
    }

    @Test func `a proxy that is not there ends the request with a word of its own`() async throws {
        let scene = try Scene(.http) { _ in "http://192.0.2.1:9" }
        let word = await failure { try await scene.session.get("https://far.example/").response() }
        #expect(word == "destination proxy-failed")
    }
}
