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

    @Test func `a task's progress is Foundation's, and finished with the task`() async throws {
        let stage = try SessionStage(answer: { _ in SessionStage.answer(String(repeating: "x", count: 300_000)) })
        let task = try stage.session.upload(Data(repeating: 7, count: 200_000), to: "x")
        let (upload, download) = (task.uploadProgress, task.downloadProgress)
        #expect(upload.isIndeterminate && !upload.isFinished)
        _ = try await task.data()
        while !upload.isFinished || !download.isFinished { try await Task.sleep(for: .milliseconds(2)) }
        #expect(upload.completedUnitCount == 200_000 && upload.totalUnitCount == 200_000)
        #expect(download.completedUnitCount == 300_000 && download.fractionCompleted == 1)
    }

    @Test func `cancelling the progress cancels the task, and pausing it suspends the task`() async throws {
        let server = try SlowServer()
        let task = try RequestSession().get(server.url).resume()
        let progress = task.downloadProgress
        // Foundation calls the handlers on another thread.
        progress.pause()
        while task.suspensionReasons != .user { try await Task.sleep(for: .milliseconds(1)) }
        progress.resume()
        while !task.suspensionReasons.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        progress.cancel()
        #expect(await failure { try await task.response() } == "cancelled cancelled" && !progress.isFinished)
    }

    @Test func `what JSONSerialization reads is a document, and parameters`() throws {
        let text = Data(#"{"a":true,"b":1,"c":1.5,"e":null,"f":[1,"x",false],"g":{"h":"x"}}"#.utf8)
        let object = try JSONSerialization.jsonObject(with: text)
        let document: JSONValue = ["a": true, "b": 1, "c": 1.5, "e": nil, "f": [1, "x", false], "g": ["h": "x"]]
        #expect(JSONValue(object) == document)
        #expect(try ParameterValue(of: object) == document.parameterValue())
        #expect((document.foundationObject as? NSObject) == (object as? NSObject))
        let classes: [String: Any] = [
            "d": NSDate(timeIntervalSinceReferenceDate: 0), "n": NSNumber(value: UInt64.max), "x": NSNull(),
            "s": "t" as NSString, "l": [1] as NSArray, "m": ["k": 1] as NSDictionary, "f": NSNumber(value: Float(0.1)),
        ]
        #expect(
            try ParameterValue(of: classes) == [
                "d": "2001-01-01T00:00:00Z", "n": .unsigned(.max), "x": nil, "s": "t", "l": [1], "m": ["k": 1],
                "f": 0.1,
            ])
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
