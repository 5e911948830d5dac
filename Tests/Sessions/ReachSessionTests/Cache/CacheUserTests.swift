import ReachCore
import ReachSerialization
import ReachSession
import ReachTesting
import Testing

/// What was stored for one user is not given to another one.
@Suite(.timeLimit(.minutes(1))) struct CacheUserTests {
    /// A server that says who asked, by Basic credentials or a cookie, and lets that be stored.
    private static func session(
        _ storage: CredentialStorage?, control: String = "max-age=1000"
    ) throws -> (server: ScriptedServer, session: RequestSession) {
        let server = try ScriptedServer { connection in
            let lines = connection.readRequest().split(separator: "\r\n")
            let who = lines.first { $0.hasPrefix("Authorization: ") || $0.hasPrefix("Cookie: ") } ?? "nobody"
            if storage != nil, who == "nobody" {
                connection.write(
                    "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"zoo\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                )
                return
            }
            connection.write(
                "HTTP/1.1 200 OK\r\nCache-Control: \(control)\r\nConnection: close\r\n"
                    + "Content-Length: \(who.utf8.count)\r\n\r\n\(who)")
        }
        var options = RequestSessionOptions()
        options.cache = .memory()
        options.responseSerializer = DataResponseSerializer()
        options.credentials = storage
        return (server, try RequestSession(baseURL: "http://127.0.0.1:\(server.port)/", options: options))
    }

    @Test func `what was stored with one user's credentials is not given to another`() async throws {
        let storage = CredentialStorage()
        let (server, session) = try Self.session(storage)
        let address = try WebAddress("http://127.0.0.1:\(server.port)/")
        func get() async throws -> String? { try await session.get("x").response().text }
        storage.setCredentials(UserCredentials(user: "alice", password: "a"), for: address)
        let alices = try await get()
        let count = server.requests.values.count
        #expect(try await get() == alices && server.requests.values.count == count)
        storage.setCredentials(UserCredentials(user: "bob", password: "b"), for: address)
        let bobs = try await get()
        #expect(bobs != alices)
        // And not to nobody.
        storage.removeAll()
        let nobodys = try? await get()
        #expect(nobodys == nil)
        storage.setCredentials(UserCredentials(user: "bob", password: "b"), for: address)
        #expect(try await get() == bobs)
    }

    @Test(arguments: ["max-age=1000", "public, max-age=1000"])
    func `what was stored with a cookie is given to those with the same cookie, or to all if it is public`(
        control: String
    ) async throws {
        let (server, session) = try Self.session(nil, control: control)
        func get(_ cookie: String?) async throws -> String? {
            session.cookies.deleteAll()
            if let cookie { session.cookies.set(Cookie(name: "who", value: cookie, domain: "127.0.0.1")) }
            return try await session.get("x").response().text
        }
        let isPublic = control.hasPrefix("public")
        #expect(try await get("alice") == "Cookie: who=alice")
        #expect(try await get("alice") == "Cookie: who=alice")
        #expect(server.requests.values.count == 1)
        #expect(try await get("bob") == "Cookie: who=\(isPublic ? "alice" : "bob")")
        #expect(try await get(nil) == (isPublic ? "Cookie: who=alice" : "nobody"))
    }
}
