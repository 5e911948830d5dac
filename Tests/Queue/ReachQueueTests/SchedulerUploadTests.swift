import ReachCore
import ReachQueue
import Testing

/// Uploads that are resumed where the server has a part of them.
@Suite struct SchedulerUploadTests {
    private var stage = QueueStage()

    private mutating func add(_ bytes: Int = 50 << 20) throws -> RequestID {
        try stage.add {
            $0.method = "POST"
            $0.body = .spooled(name: "b", bytes: Int64(bytes))
            $0.uploadProtocol = .tus
        }
    }

    @Test mutating func `an upload that can be resumed uses every window, however short`() throws {
        stage.network([.wifi])
        let id = try add()
        for round in 0..<20 {
            stage.pass(.seconds(3))
            try #require(stage.state(id) == .running, "round \(round)")
            stage.send(.requestSent(id))
            if round > 0 { stage.send(.uploadAdvanced(id)) }
            stage.network([])
            stage.pass(.seconds(5))
            stage.network([.wifi])
        }
        #expect(stage.starts.count == 20)
        stage.pass(.seconds(3))
        stage.answer(id, 204)
        #expect(stage.state(id) == nil && stage.kinds(of: id).last == .done)
    }

    @Test mutating func `what an earlier attempt says late takes back no failure before the next one is sent`() throws {
        stage.network([.wifi])
        let id = try add()
        stage.answer(id, 503)
        stage.commits = false
        stage.pass(.seconds(2))
        #expect(stage.queue.runningCount == 1 && stage.starts.count == 1)
        stage.send(.uploadAdvanced(id))
        #expect(stage.explanation(id)?.attempts == 1)
        stage.commits = true
        for number in stage.uncommitted { stage.send(.committed(number)) }
        stage.send(.uploadAdvanced(id))
        #expect(stage.starts.count == 2 && stage.explanation(id)?.attempts == 0)
    }

    @Test mutating func `a server that cuts each attempt costs an upload that advances no long waits`() throws {
        stage.network([.wifi])
        let id = try add()
        let other = try stage.add("https://b.example/")
        for (request, isAdvancing) in [(id, true), (other, false)] {
            let began = stage.elapsed
            var attempts = 0
            while stage.elapsed < began + .seconds(60) {
                stage.pass(.milliseconds(100))
                guard stage.state(request) == .running else { continue }
                attempts += 1
                stage.send(.requestSent(request))
                if isAdvancing { stage.send(.uploadAdvanced(request)) }
                stage.fail(request, .transient)
                stage.send(.pathChecked(interfaceIndex: 3, works: true))
            }
            if isAdvancing {
                #expect(attempts >= 40, "\(attempts)")
                #expect(stage.explanation(request)?.attempts == 1)
            } else {
                #expect(attempts <= 10, "\(attempts)")
            }
        }
        #expect(
            !stage.events.contains { $0.kind == .breakerOpen && $0.destination?.description.contains("a.ex") == true })
    }

    @Test mutating func `what advances is not given up for the failures before, what stands still is`() throws {
        stage.network([.wifi])
        for isAdvancing in [true, false] {
            let id = try stage.add("https://\(isAdvancing).example/") {
                $0.method = "POST"
                $0.body = .spooled(name: "b", bytes: 1000)
                $0.uploadProtocol = .tus
                $0.maximumAttempts = 3
            }
            for _ in 0..<8 {
                stage.pass(.seconds(30))
                guard stage.state(id) == .running else { break }
                if isAdvancing { stage.send(.uploadAdvanced(id)) }
                stage.answer(id, 503)
            }
            #expect((stage.state(id) == .dead) != isAdvancing)
        }
    }

    @Test mutating func `an attempt that may have arrived is repeated without a key`() throws {
        stage.network([.wifi])
        let id = try add()
        stage.pass(.seconds(1))
        stage.send(.requestSent(id))
        stage.network([])
        stage.pass(.seconds(3))
        #expect(stage.state(id) == .waiting)
    }

    @Test func `what a resumable upload cannot be is said when it is added`() throws {
        for (method, body, header, field) in [
            ("PUT", .inline([1]), nil, "upload-protocol"), ("GET", .none, nil, "upload-protocol"),
            ("PATCH", .inline([1]), "upload-offset", "header"), ("POST", .inline([1]), "Tus-Resumable", "header"),
            ("POST", .inline([1]), "Upload-Metadata", nil),
        ] as [(String, RequestBody, String?, String?)] {
            var request = try RequestSpecification(method: method, url: "https://a.example/", body: body)
            request.uploadProtocol = .tus
            request.headers = header.map { [HeaderField($0, "1")] } ?? []
            var found: String?
            do throws(RequestValidationError) { try request.check(QueueLimits()) } catch {
                found = error.field.rawValue
            }
            #expect(found == field, "\(method) \(header ?? "")")
        }
        #expect(throws: RequestValidationError.self) { try UploadProtocol("ftp") }
    }
}
