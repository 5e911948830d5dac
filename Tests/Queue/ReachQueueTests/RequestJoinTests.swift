import ReachCore
import Testing

@testable import ReachQueue

/// How bodies become one, and which requests can be joined.
@Suite struct RequestJoinTests {
    private static func bytes(_ texts: String...) -> [[UInt8]] { texts.map { Array($0.utf8) } }

    @Test(
        arguments: [
            (JoinForm.lines, bytes("a", "b\n", "c\nd"), "a\nb\nc\nd\n"), (.lines, bytes("a"), "a\n"),
            (.json, bytes("{\"a\":1}", " 2 ", "[3]"), "[{\"a\":1}, 2 ,[3]]"), (.json, bytes("1"), "[1]"),
        ] as [(JoinForm, [[UInt8]], String)])
    func `bodies become lines, or an array, also one alone`(form: JoinForm, bodies: [[UInt8]], joined: String) {
        #expect(String(decoding: form.join(bodies), as: UTF8.self) == joined)
    }

    private static func request(
        _ body: String = "1", _ form: JoinForm = .json, _ change: (inout RequestSpecification) -> Void = { _ in }
    ) throws -> RequestSpecification {
        var request = try RequestSpecification(method: "POST", url: "http://a/", body: .inline(Array(body.utf8)))
        request.uniqueness = .joined(key: "k", form: form)
        change(&request)
        return request
    }

    @Test func `what carries others has a key of its own, and alone it keeps its key`() throws {
        let request = try Self.request().completed { "id" }
        let carrier = request.carrying(Self.bytes("1", "2", "3"))
        #expect(carrier.headers.first { $0.isNamed("Idempotency-Key") }?.value == "id.joined")
        #expect(carrier.body == .inline(Array("[1,2,3]".utf8)))
        let alone = request.carrying(Self.bytes("1"))
        #expect(alone.headers == request.headers && alone.body == .inline(Array("[1]".utf8)))
    }

    @Test(
        arguments: [
            (try? request("{\"a\":}"), "body", "it is no JSON, byte 5: a value expected"),
            (try? request("", .lines), "body", "a request that is joined needs a body, in the request itself"),
            (try? request { $0.body = .spooled(name: "b", bytes: 1) }, "body", "needs a body, in the request itself"),
            (
                try? request(String(repeating: "1", count: 300_000), .lines), "body",
                "300000 bytes is too large to be joined"
            ),
            (try? request { $0.idempotency = .key("k") }, "header", "no idempotency key of its own"),
            (
                try? request { $0.headers = [HeaderField("idempotency-key", "k")] }, "header",
                "no idempotency key of its own"
            ),
            (try? request { $0.uploadProtocol = .tus }, "mode", "no upload, file or interceptor"),
            (try? request { $0.orderKey = "o" }, "mode", "no place in an order"),
        ] as [(RequestSpecification?, String, String)])
    func `a request that cannot be joined is refused with the place`(
        request: RequestSpecification?, field: String, text: String
    ) throws {
        let error = try #require(throws: RequestValidationError.self) { try #require(request).check(QueueLimits()) }
        #expect(error.field.rawValue == field && error.description.contains(text), "\(error)")
    }

    @Test func `a body as long as what is sent together may be joined`() throws {
        let limits = QueueLimits()
        try Self.request(String(repeating: "1", count: limits.joinedBytes), .lines).check(limits)
        #expect(throws: RequestValidationError.self) {
            try Self.request(String(repeating: "1", count: limits.joinedBytes + 1), .lines).check(limits)
        }
    }

    @Test(arguments: JoinForm.allCases)
    func `the words of a mode are read as they are written`(form: JoinForm) throws {
        let joined = RequestUniqueness.joined(key: "k", form: form)
        #expect(try RequestUniqueness(key: joined.key, mode: joined.mode) == joined)
    }
}
