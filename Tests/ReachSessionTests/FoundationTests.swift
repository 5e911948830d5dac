import Foundation
import ReachSession
import ReachSessionFoundation
import ReachTesting
import Testing

/// What programs that use Foundation expect.
@Suite(.timeLimit(.minutes(1))) struct FoundationTests {
    private final class Received: Sendable {
        let data = EventLog<Data>()
        let files = EventLog<URL>()
        let errors = EventLog<String>()
    }

    @Test func `notifications have Data, URL and Error under AFNetworking's keys`() async throws {
        let directory = try TemporaryDirectory()
        let (stage, center, received) = (try SessionStage(), NotificationCenter(), Received())
        stage.session.postNotifications(to: center)
        let token = center.addObserver(forName: .requestDidComplete, object: nil, queue: nil) { notification in
            func value(_ key: RequestNotification.Key) -> Any? { notification.userInfo?[key.rawValue] }
            if let data = value(.responseData) as? Data { received.data.append(data) }
            if let file = value(.assetPath) as? URL { received.files.append(file) }
            if let error = value(.error) as? any Error { received.errors.append(error.localizedDescription) }
        }
        defer { center.removeObserver(token) }
        let body = try await stage.session.get("x").response().body
        #expect(try await received.data.wait(for: 1) == [Data(body)])
        let path = directory.path + "/there"
        try await stage.session.download("x", to: path).response()
        #expect(try await received.files.wait(for: 1) == [URL(filePath: path)])
        let port = try TestProgram.freePort()
        guard case .failure(let error) = try await stage.session.get("http://127.0.0.1:\(port)/").awaitedResult else {
            throw TestFailure("no error")
        }
        #expect(try await received.errors.wait(for: 1) == [error.description])
    }

    @Test func `errors have their sentence as the localized description`() throws {
        let errors: [any Error] = [
            RequestSerializationError.notADictionary, try #require(error(of: try WebAddress("x"))),
            try #require(error(of: try RequestConstraint("nonsense"))),
            try #require(error(of: try form(of: "/nonexistent"))),
            try #require(ResponseCheck().error(HTTPResponse(status: 500), body: [])),
        ]
        for error in errors {
            #expect(error.localizedDescription == "\(error)")
            #expect((error as? any LocalizedError)?.errorDescription == "\(error)")
        }
    }

    private func error(of body: @autoclosure () throws -> Any) -> (any Error)? {
        do { _ = try body() } catch { return error }
        return nil
    }

    private func form(of path: String) throws -> MultipartForm {
        var form = MultipartForm()
        try form.append(file: path, name: "a")
        return form
    }
}
