import ReachCore
import ReachQueue
import Testing

/// Whether a request gets a key that makes it repeatable.
@Suite struct CompleteRequestTests {
    private static func request(
        _ method: String, _ change: (inout RequestSpecification) -> Void = { _ in }
    ) throws -> RequestSpecification {
        var request = try RequestSpecification(method: method, url: "http://192.0.2.1/")
        change(&request)
        return request
    }

    @Test func `what is complete does not change, and anything else gets what it lacks`() throws {
        let key = HeaderField("Idempotency-Key", "k")
        let requests = [
            try Self.request("GET"), try Self.request("PUT"), try Self.request("POST"),
            try Self.request("POST") { $0.idempotency = .never }, try Self.request("GET") { $0.idempotency = .never },
            try Self.request("GET") { $0.headers = [key] }, try Self.request("POST") { $0.headers = [key] },
            try Self.request("POST") { $0.idempotency = .key("k") },
        ]
        for request in requests where request.isComplete {
            #expect(request.completed { "made" } == request, "\(request.method)")
        }
        #expect(requests.map(\.isComplete) == [true, true, false, true, true, false, false, false])
    }
}
