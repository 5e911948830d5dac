import ReachCore
import ReachSerialization
import ReachSession
import ReachTesting
import Testing

/// Whoever answers 401 chooses the scheme: credentials for Digest are not sent as Basic, in the clear.
@Suite(.timeLimit(.minutes(1))) struct WeakerSchemeTests {
    private static let ann = UserCredentials(user: "ann", password: "secret")
    private static let refusal = "HTTP/1.1 401 No\r\nContent-Length: 0\r\nConnection: close\r\nWWW-Authenticate: "

    /// A server that asks for the last of these schemes, for Digest at first, and accepts any answer to its challenge.
    private final class Stage: Sendable {
        let schemes = EventLog<String>()
        let storage = CredentialStorage()
        let questions = EventLog<String>()
        let stage: SessionStage

        init(answersHook: Bool = false) throws {
            let (storage, questions, schemes) = (storage, questions, schemes)
            stage = try SessionStage {
                $0.credentials = storage
                $0.hooks.challenge = { _, challenge in
                    questions.append("\(challenge.scheme) \(challenge.failureCount)")
                    return answersHook ? UserCredentials(user: "bob", password: "known") : nil
                }
            } answer: { request in
                let isBasic = schemes.values.last == "Basic"
                if request.contains("Authorization: \(isBasic ? "Basic" : "Digest") ") {
                    return SessionStage.echo(request)
                }
                return WeakerSchemeTests.refusal
                    + (isBasic
                        ? "Basic realm=\"zoo\"\r\n\r\n"
                        : "Digest realm=\"zoo\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256\r\n\r\n")
            }
        }

        var server: WebAddress { get throws { try WebAddress(stage.root) } }
        var sentBasic: [String] { stage.server.requests.values.filter { $0.contains("Authorization: Basic") } }

        func status(_ path: String) async -> Int? { try? await stage.session.get(path).response().statusCode }
    }

    @Test(arguments: ["zoo", nil])
    func `what answered Digest is never sent as Basic`(realm: String?) async throws {
        let stage = try Stage()
        stage.storage.setCredentials(Self.ann, for: try stage.server, realm: realm)
        #expect(await stage.status("x") == 200)
        stage.schemes.append("Basic")
        #expect(await stage.status("x") == nil)
        #expect(stage.sentBasic.isEmpty && stage.questions.values == ["basic 0"])
        // They still answer Digest.
        stage.schemes.append("Digest")
        #expect(await stage.status("x") == 200)
    }

    @Test func `credentials for Digest do not answer the first challenge to Basic`() async throws {
        let stage = try Stage()
        stage.schemes.append("Basic")
        stage.storage.setCredentials(Self.ann, for: try stage.server, scheme: .digest)
        #expect(await stage.status("x") == nil)
        #expect(stage.sentBasic.isEmpty)
    }

    @Test func `what a hook gives for Basic is sent, and what is stored for Digest stays`() async throws {
        let stage = try Stage(answersHook: true)
        stage.storage.setCredentials(Self.ann, for: try stage.server)
        #expect(await stage.status("x") == 200)
        stage.schemes.append("Basic")
        #expect(await stage.status("x") == 200)
        // bob:known
        #expect(stage.sentBasic.allSatisfy { $0.contains("Basic Ym9iOmtub3du\r\n") })
    }

    @Test func `credentials for Basic, and those for whatever is asked first, answer Basic`() async throws {
        for scheme in [AuthenticationChallenge.Scheme.basic, nil] {
            let stage = try Stage()
            stage.schemes.append("Basic")
            stage.storage.setCredentials(Self.ann, for: try stage.server, scheme: scheme)
            #expect(await stage.status("x") == 200)
        }
    }
}
