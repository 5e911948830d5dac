import ReachCore
import ReachQueue
import Testing

/// What is kept and shown of a request.
@Suite struct RequestReportTests {
    private static let id = RequestID(rawValue: 7)

    private static func moment(_ seconds: Int64) -> Instant {
        Instant(
            wall: Timestamp(nanosecondsSince1970: seconds * 1_000_000_000),
            boot: BootTime(nanoseconds: seconds * 1_000_000_000))
    }

    private static func report() throws -> RequestReport {
        let request = try QueuedRequest(RequestSpecification(url: "https://a.example/"), owner: 9)
        return RequestReport(id, request, created: moment(1).wall, deadline: moment(2).wall)
    }

    @Test func `the store gives back all that decides when and how a request is sent`() throws {
        var request = try QueuedRequest(
            RequestSpecification(
                method: "POST", url: "http://a.example:81/x", body: .inline([1, 2, 3]),
                condition: NetworkCondition("wifi")), owner: 9)
        let plain = StoredRequest(Self.id, request, created: Self.moment(1), deadline: Self.moment(2))
        #expect(plain.id == Self.id && plain.owner == 9 && plain.state == .waiting)
        #expect(try plain.destination == Destination(url: "http://a.example:81/"))
        #expect(try plain.condition == NetworkCondition("wifi") && plain.created == Self.moment(1))
        #expect(plain.deadline == Self.moment(2) && plain.exposesSecrets && plain.bodyBytes == 3)
        #expect(plain.bytesHeld == request.specification.bytesHeld && plain.bytesHeld > 3)
        #expect(!plain.isRepeatable && !plain.isResumable && !plain.isStrict && !plain.isOverBudget)
        #expect(plain.priority == .normal && plain.orderKey == nil && plain.maximumAttempts == nil)
        #expect(plain.interceptor == nil && plain.joinGroup == nil && !plain.dependsOnPrevious)
        request.specification.priority = .high
        request.specification.orderKey = "o"
        request.specification.dependsOnPrevious = true
        request.specification.uniqueness = .coalesce(key: "k")
        request.specification.isStrict = true
        request.specification.maximumAttempts = 3
        request.specification.interceptor = "i"
        request.specification.uploadProtocol = .tus
        request.specification.isOverBudget = true
        request.specification.joinGroup = "g"
        let whole = StoredRequest(Self.id, request, created: Self.moment(1), deadline: Self.moment(2))
        #expect(whole.priority == .high && whole.orderKey == "o" && whole.dependsOnPrevious)
        #expect(whole.uniqueness == .coalesce(key: "k") && whole.isStrict && whole.maximumAttempts == 3)
        #expect(whole.interceptor == "i" && whole.isResumable && whole.isRepeatable && whole.isOverBudget)
        #expect(whole.joinGroup == "g")
    }

    @Test func `the numbers of a request are kept as they are`() {
        let progress = RequestProgress(
            id: Self.id, attempts: 1, networkFailures: 2, tries: 3, isHeld: true, notBefore: Self.moment(4),
            isNetworkFailure: true, waitsSince: Self.moment(5))
        #expect(progress.id == Self.id && progress.attempts == 1 && progress.networkFailures == 2)
        #expect(progress.tries == 3 && progress.isHeld && progress.notBefore == Self.moment(4))
        #expect(progress.isNetworkFailure && progress.waitsSince == Self.moment(5))
    }

    @Test(
        arguments: [
            (RequestEnd.done, QueuedRequestState.done, nil), (.dead(.refused), .dead, "refused"),
            (.dead(.indeterminate), .dead, "indeterminate"),
            (.cancelled(.byUser), .cancelled, CancelReason.byUser.rawValue),
            (.cancelled(.superseded), .cancelled, "superseded"),
        ] as [(RequestEnd, QueuedRequestState, String?)])
    func `an end is kept with its reason and its time, and nothing is tried again`(
        end: RequestEnd, state: QueuedRequestState, reason: String?
    ) throws {
        var report = try Self.report()
        report.notBefore = Self.moment(3).wall
        #expect(report.end == nil && report.state == .waiting)
        report.finish(end, at: Self.moment(4).wall)
        #expect(report.state == state && report.reason == reason && report.over == Self.moment(4).wall)
        #expect(report.notBefore == nil && report.end == end)
    }

    @Test func `the status and the length of an answer are those of its result`() throws {
        var report = try Self.report()
        #expect(report.status == nil && report.answerBytes == nil)
        report.status = 204
        report.answerBytes = 12
        #expect(report.result?.status == 204 && report.status == 204 && report.answerBytes == 12)
        report.answerBytes = nil
        #expect(report.result?.body == RequestBody.none)
        report.status = nil
        #expect(report.result == nil)
    }

    @Test func `a report has what the queue says of the request, and its reasons only in an explanation`() throws {
        var policy = QueuePolicy()
        policy.retries.floor = .seconds(100)
        var stage = QueueStage(policy)
        stage.network([.wired])
        let id = try stage.add()
        stage.answer(id, 503)
        stage.pass(.seconds(101))
        stage.fail(id, .localNetwork)
        let explanation = try #require(stage.explanation(id))
        var report = try Self.report()
        report.add(explanation, isWhole: false)
        #expect(report.state == .backoff && report.blockers == [.backoff])
        #expect(report.attempts == 1 && report.networkFailures == 1 && report.tries == 2)
        #expect(report.reasons.isEmpty && report.interface == nil)
        report.add(explanation, isWhole: true)
        #expect(report.reasons == explanation.reasons && report.reasons.count == 1 && report.interface == "eth0")
    }

    @Test func `an end that is not written yet is not shown`() throws {
        var stage = QueueStage()
        stage.network([.wired])
        let id = try stage.add()
        stage.answer(id, 404)
        let explanation = try #require(stage.explanation(id))
        #expect(explanation.state == .dead && explanation.death == .refused)
        var report = try Self.report()
        report.add(explanation, isWhole: false)
        #expect(report.state == .waiting && report.reason == nil && report.end == nil)
    }

    // MARK: Words

    @Test func `priorities are read as words and as numbers`() throws {
        for priority in RequestPriority.allCases {
            #expect(
                try RequestPriority("\(priority)") == priority && RequestPriority("\(priority.rawValue)") == priority)
        }
        for text in ["", "4", "-1", "High", "urgently"] {
            #expect(throws: RequestValidationError.self) { try RequestPriority(text) }
        }
    }

    @Test(
        arguments: [
            (nil, nil, RequestUniqueness.none), ("k", nil, .unique(name: "k", mode: .keep)),
            ("k", "keep", .unique(name: "k", mode: .keep)), ("k", "replace", .unique(name: "k", mode: .replace)),
            ("k", "append", .unique(name: "k", mode: .append)),
            ("k", "append-or-replace", .unique(name: "k", mode: .appendOrReplace)),
            ("k", "coalesce", .coalesce(key: "k")),
            ("k", "join-json", .joined(key: "k", form: .json)), ("k", "join-lines", .joined(key: "k", form: .lines)),
        ] as [(String?, String?, RequestUniqueness)])
    func `a key and a mode say what becomes of equal requests`(
        key: String?, mode: String?, expected: RequestUniqueness
    ) throws {
        let found = try RequestUniqueness(key: key, mode: mode)
        #expect(found == expected && found.key == key && found.mode == mode ?? (key == nil ? nil : "keep"))
    }

    @Test func `a mode needs a key, and a word that is one`() {
        for (key, mode) in [(nil, "keep"), ("k", "none"), ("k", "")] as [(String?, String)] {
            let error = #expect(throws: RequestValidationError.self) { try RequestUniqueness(key: key, mode: mode) }
            #expect(error?.field == .mode)
        }
    }
}
