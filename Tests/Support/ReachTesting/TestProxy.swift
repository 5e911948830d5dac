package import ReachCore
internal import Glibc

/// A small proxy for tests, of HTTP (CONNECT and plain requests) and of SOCKS5. It connects to one port of this
/// machine, whatever target it is asked for.
package final class TestProxy: Sendable {
    package enum Kind: Sendable {
        case http
        case socks5
    }

    /// The credentials that it wants; `nil` for none.
    package struct Login: Hashable, Sendable {
        package let user: String
        package let password: String

        package init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    package let server: ScriptedServer
    /// The targets that it was asked for, as the client wrote them: `example.org:443`, or an absolute URL.
    package let targets = EventLog<String>()
    /// The heads of requests that were for the proxy: CONNECT, or a plain request.
    package let heads = EventLog<String>()

    package var port: UInt16 { server.port }

    /// - Parameters:
    ///   - target: The port of 127.0.0.1, in the test's namespace, that all connections lead to.
    ///   - refusal: The answer instead of a connection: a status line such as `502 Bad Gateway`, or for SOCKS5 the
    ///     number of a reply (RFC 1928, 6).
    package init(
        _ kind: Kind, to target: UInt16, login: Login? = nil, refusal: String? = nil,
        in namespace: TestNamespace? = nil,
        at address: IPAddress = IPAddress(ipv4: 0x7f00_0001), port: UInt16 = 0
    ) throws {
        let (targets, heads) = (targets, heads)
        server = try ScriptedServer(in: namespace, at: address, port: port) { connection in
            switch kind {
            case .http: HTTPScript(target, login, refusal, targets, heads).run(connection)
            case .socks5: SOCKSScript(target, login, refusal, targets).run(connection)
            }
        }
    }
}

private struct HTTPScript {
    let target: UInt16
    let login: TestProxy.Login?
    let refusal: String?
    let targets: EventLog<String>
    let heads: EventLog<String>

    init(
        _ target: UInt16, _ login: TestProxy.Login?, _ refusal: String?, _ targets: EventLog<String>,
        _ heads: EventLog<String>
    ) {
        (self.target, self.login, self.refusal, self.targets, self.heads) = (target, login, refusal, targets, heads)
    }

    func run(_ connection: ScriptedServer.Connection) {
        let request = connection.readRequest()
        let words = request.split(separator: " ", maxSplits: 2).map(String.init)
        guard words.count == 3 else { return }
        heads.append(request)
        targets.append(words[1])
        if let login {
            var writer = ByteWriter(capacity: 64)
            writer.append(base64: Array("\(login.user):\(login.password)".utf8))
            guard request.contains("\r\nProxy-Authorization: Basic \(writer.text)\r\n") else {
                connection.write(
                    "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"test\"\r\nContent-Length: 0\r\n\r\n")
                return
            }
        }
        if let refusal {
            connection.write("HTTP/1.1 \(refusal)\r\nContent-Length: 0\r\n\r\n")
            return
        }
        guard let far = connection.connect(toPort: target) else { return }
        if words[0] == "CONNECT" {
            connection.write("HTTP/1.1 200 Connected\r\n\r\n")
        } else {
            far.write(request)
        }
        connection.relay(with: far)
    }
}

private struct SOCKSScript {
    let target: UInt16
    let login: TestProxy.Login?
    let refusal: String?
    let targets: EventLog<String>

    init(_ target: UInt16, _ login: TestProxy.Login?, _ refusal: String?, _ targets: EventLog<String>) {
        (self.target, self.login, self.refusal, self.targets) = (target, login, refusal, targets)
    }

    func run(_ connection: ScriptedServer.Connection) {
        guard let greeting = connection.read(2), greeting[0] == 5, let methods = connection.read(Int(greeting[1]))
        else {
            return
        }
        let method: UInt8 = login == nil ? 0 : 2
        guard methods.contains(method) else {
            connection.write([5, 0xff])
            return
        }
        connection.write([5, method])
        if let login, !accepts(login, connection) { return }
        guard let request = connection.read(4), request[1] == 1, let host = host(of: request[3], connection),
            let port = connection.read(2)
        else { return }
        targets.append("\(host):\(UInt16(port[0]) << 8 | UInt16(port[1]))")
        let reply = refusal.flatMap(UInt8.init) ?? 0
        let far = reply == 0 ? connection.connect(toPort: target) : nil
        connection.write([5, far == nil && reply == 0 ? 1 : reply, 0, 1, 0, 0, 0, 0, 0, 0])
        if let far { connection.relay(with: far) }
    }

    /// RFC 1929.
    private func accepts(_ login: TestProxy.Login, _ connection: ScriptedServer.Connection) -> Bool {
        guard let head = connection.read(2), let user = connection.read(Int(head[1])), let count = connection.read(1),
            let password = connection.read(Int(count[0]))
        else { return false }
        let isRight = user == Array(login.user.utf8) && password == Array(login.password.utf8)
        connection.write([1, isRight ? 0 : 1])
        return isRight
    }

    private func host(of type: UInt8, _ connection: ScriptedServer.Connection) -> String? {
        switch type {
        case 1: return connection.read(4).flatMap { IPAddress($0.map { "\($0)" }.joined(separator: ".")) }?.description
        case 3:
            guard let count = connection.read(1), let name = connection.read(Int(count[0])) else { return nil }
            return String(decoding: name, as: UTF8.self)
        case 4:
            guard let bytes = connection.read(16) else { return nil }
            let groups = stride(from: 0, to: 16, by: 2).map {
                String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16)
            }
            return IPAddress(groups.joined(separator: ":")).map { "[\($0)]" }
        default: return nil
        }
    }
}
