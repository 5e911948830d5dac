import Foundation
import ReachTesting
import Testing

/// What people of other libraries type first does not compile, and the compiler says what to type instead. Each line is
/// compiled as in a package of its own.
@Suite(.timeLimit(.minutes(5))) struct UnavailableNameTests {
    @Test func `names of other monitors have a sentence with their counterpart`() throws {
        try Compiler.expect(
            importing: "Dispatch, Reachability",
            [
                ("ReachabilityMonitor.shared.startMonitoring()", "renamed to 'start()'"),
                ("ReachabilityMonitor.shared.stopMonitoring()", "renamed to 'stop()'"),
                ("ReachabilityMonitor.shared.cancel()", "renamed to 'stop()'"),
                ("_ = ReachabilityMonitor.sharedManager", "renamed to 'shared'"),
                ("_ = AFNetworkReachabilityManager()", "renamed to 'ReachabilityMonitor'"),
                ("_ = NetworkReachabilityManager()", "renamed to 'ReachabilityMonitor'"),
                ("_ = NWPathMonitor()", "renamed to 'ReachabilityMonitor'"),
                ("let path: NWPath? = nil", "renamed to 'ReachabilityState'"),
                ("ReachabilityMonitor().pathUpdateHandler = { print($0.status) }", "use setChangeBlock(_:)"),
                ("ReachabilityMonitor().start(queue: .main)", "call start(); ReachabilityOptions.delivery"),
                ("print(ReachabilityMonitor().currentPath.status)", "currentState() before start()"),
                ("ReachabilityMonitor.default.startListening { print($0) }", "setStatusChangeBlock(_:)"),
                ("ReachabilityMonitor.shared.stopListening()", "renamed to 'stop()'"),
                ("ReachabilityMonitor.shared.setReachabilityStatusChange { print($0) }", "setStatusChangeBlock(_:)"),
                ("print(ReachabilityMonitor().state.isExpensive)", "renamed to 'isMetered'"),
                ("print(ReachabilityMonitor().state.isConstrained)", "Low Data Mode"),
                ("_ = ReachabilityMonitor().state.unsatisfiedReason", "renamed to 'reason'"),
                ("print(ReachabilityMonitor().state.usesInterfaceType(.wifi))", "renamed to 'uses(_:)'"),
            ])
    }

    @Test func `names of other sessions have a sentence with their counterpart`() throws {
        let any = "write ParameterValue(of: parameters)"
        try Compiler.expect(
            importing: "ReachSession",
            [
                ("let values: [String: Any] = [:]; _ = try session.get(\"a\", parameters: values)", any),
                ("_ = try session.head(\"a\", parameters: [\"a\": { 1 } as Any])", any),
                ("_ = try session.post(\"a\", parameters: [\"a\": [1, \"b\"] as [Any]])", any),
                ("let values: [String: Any] = [:]; _ = try session.put(\"a\", parameters: values)", any),
                ("let values: [String: Any] = [:]; _ = try session.patch(\"a\", parameters: values)", any),
                ("let values: [String: Any] = [:]; _ = try session.delete(\"a\", parameters: values)", any),
                ("_ = AFHTTPSessionManager()", "renamed to 'RequestSession'"),
                ("AF.request(\"http://a\").responseJSON { print($0) }", "create a RequestSession and keep it"),
                ("session.request(\"a\", method: .post, parameters: [\"a\": 1])", "use get, head, post"),
                ("_ = RequestSession.shared", "create a RequestSession and keep it"),
                ("task.responseJSON { print($0) }", "await json()"),
                ("task.responseString { print($0) }", "await text()"),
                ("task.responseData { print($0) }", "await data()"),
                ("task.responseDecodable(of: Int.self) { print($0) }", "await decoded()"),
                ("_ = task.validate()", "RequestOptions.acceptedStatuses"),
                (
                    "session.get(\"a\", parameters: nil, headers: nil, progress: nil, success: { _, object in }, "
                        + "failure: { _, error in })",
                    "await response() or value()"
                ),
                ("session.dataTask(with: \"a\") { data, response, error in }.resume()", "await its data()"),
                ("session.downloadTask(with: \"a\").resume()", "renamed to 'download(_:to:)'"),
                ("session.uploadTask(with: \"a\", from: nil).resume()", "use upload(file:to:)"),
                ("_ = try await session.data(from: \"a\")", "get(url).data()"),
                ("session.invalidateAndCancel()", "renamed to 'close()'"),
                ("session.finishTasksAndInvalidate()", "closeAndWait()"),
                ("var options = RequestSessionOptions(); options.timeoutIntervalForRequest = 3", "set timeouts.idle"),
                ("var options = RequestSessionOptions(); options.timeoutIntervalForResource = 3", "set timeouts.total"),
                ("var options = RequestSessionOptions(); options.httpAdditionalHeaders = [:]", "changeHeaders(_:)"),
                ("var options = RequestSessionOptions(); options.httpMaximumConnectionsPerHost = 3", "maximumRunning"),
                (
                    "var options = RequestSessionOptions(); options.requestSerializer.timeoutInterval = 3",
                    "timeouts.idle"
                ),
                (
                    "RequestSessionOptions().requestSerializer.setValue(\"a\", forHTTPHeaderField: \"b\")",
                    "changeHeaders"
                ),
                ("var options = RequestOptions(); options.timeoutInterval = 3", "set timeouts"),
            ])
    }

    @Test func `a monitor brings what it says, read only, and nothing of the daemon's`() throws {
        try Compiler.expect(
            importing: "Reachability",
            [
                ("let value: BootTime? = nil", "cannot find type 'BootTime'"),
                ("let value: JSONValue? = nil", "cannot find type 'JSONValue'"),
                ("let value: ByteProgress? = nil", "cannot find type 'ByteProgress'"),
                ("print(ReachabilityMonitor().state.epoch)", "'epoch' is inaccessible"),
                ("print(ReachabilityMonitor().state.flaps)", "'flaps' is inaccessible"),
                ("print(ReachabilityMonitor().state.heldCause as Any)", "'heldCause' is inaccessible"),
                ("var state = ReachabilityMonitor().state; state.isStale = true", "setter is inaccessible"),
                ("var path = ReachabilityMonitor().ipv4; path.metric = 1", "setter is inaccessible"),
                ("var all = [PortalSession](); all[0].isEnding = true", "setter is inaccessible"),
                // No error: what signatures name is there.
                (
                    "print(ReachabilityMonitor(Target.internet, options: ReachabilityOptions()).state.since as Timestamp)",
                    ""
                ),
                ("let reason: Reason? = ReachabilityMonitor().reason; _ = reason == Reason.noRoute", ""),
            ])
    }
}

/// Swift's compiler, in the place of the person's.
private enum Compiler {
    /// Compiles each line as the body of a function, and expects an error with the text there; none where it is empty.
    static func expect(importing modules: String, _ lines: [(code: String, text: String)]) throws {
        let directory = try TemporaryDirectory()
        let file = directory.path + "/lines.swift"
        let imports = modules.split(separator: ", ").map { "import \($0)" }.joined(separator: "; ")
        let session = modules.contains("Session") ? "_ session: RequestSession, _ task: RequestTask" : ""
        let functions = lines.enumerated().map { "func line\($0)(\(session)) async throws { \($1.code) }" }
        try Data(([imports] + functions).joined(separator: "\n").utf8).write(to: URL(filePath: file))
        let modules = BuiltProgram(named: "wifi-upload").path.split(separator: "/", omittingEmptySubsequences: false)
            .dropLast().joined(separator: "/")
        let arguments = ["-typecheck", "-swift-version", "6", "-I", modules + "/Modules"] + moduleMaps(modules)
        let result = try BuiltProgram(named: "swiftc").run(arguments + [file], limit: .seconds(240))
        let errors = result.standardError.split(separator: "\n").filter { $0.contains(" error: ") }
        #expect(!errors.isEmpty, "\(result.standardError)")
        for (number, line) in lines.enumerated() {
            let found = errors.filter { $0.hasPrefix("\(file):\(number + 2):") }
            let isRight = line.text.isEmpty ? found.isEmpty : found.contains { $0.contains(line.text) }
            #expect(isRight, "\(line.code): \(found)")
        }
    }

    /// Where the modules of C are that those of Swift import.
    private static func moduleMaps(_ built: String) -> [String] {
        let sources = ProjectFile.path("Sources/C")
        let places = ["\(sources)/", "\(built)/"].flatMap { top in
            // Modules that plugins need are built twice, with the same names.
            ((try? FileManager.default.contentsOfDirectory(atPath: top)) ?? []).filter { !$0.hasSuffix("-tool.build") }
                .flatMap { ["\(top)\($0)/module.modulemap", "\(top)\($0)/include/module.modulemap"] }
        }
        let maps = places.filter { FileManager.default.fileExists(atPath: $0) }.map { "-fmodule-map-file=" + $0 }
        return (maps + ["-I/usr/include/libnl3"]).flatMap { ["-Xcc", $0] }
    }
}
