import Foundation
import HTTPTypes
import ReachSerialization
import Testing

/// Serializers of a program's own, and the one for `Decodable` types.
@Suite struct CustomSerializerTests {
    private struct User: Decodable, Sendable, Equatable {
        var name: String
        var tags: [Tag]
        struct Tag: Decodable, Sendable, Equatable { var id: Int }
    }

    private func head(_ status: Int = 200, _ type: String = "application/json") throws -> HTTPResponse {
        HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: [.contentType: type])
    }

    @Test func `a decodable value is the object of the response`() throws {
        let serializer = DecodableResponseSerializer<User>()
        let body = Array(#"{"name":"Ann","tags":[{"id":1}]}"#.utf8)
        for type in ["application/json", "application/vnd.api+json; charset=utf-8"] {
            let result = serializer.serialize(try head(200, type), body: body)
            guard case .custom(let value)? = result.object else { Issue.record("no object"); return }
            #expect(value as? User == User(name: "Ann", tags: [.init(id: 1)]) && result.error == nil)
        }
        #expect(serializer.serialize(try head(), body: []).error == nil)
        #expect(serializer.serialize(try head(200, "text/html"), body: body).error?.word == "bad-content-type")
        #expect(serializer.serialize(try head(500), body: body).error?.word == "bad-status")
    }

    @Test(arguments: [
        (#"{"name":"Ann","tags":[{"id":1},{"id":"x"}]}"#, "tags[1].id: "),
        (#"{"tags":[]}"#, "name: there is no such key"),
        (#"{"name":null,"tags":[]}"#, "name: "), ("{", "The given data was not valid JSON"),
    ])
    func `what cannot be decoded is named by its place, and the cause is kept`(body: String, place: String) throws {
        let result = DecodableResponseSerializer<User>().serialize(try head(), body: Array(body.utf8))
        let error = try #require(result.error)
        #expect(error.word == "undecodable" && error.cause is DecodingError)
        #expect(error.description.hasPrefix("the body is not User: \(place)"), "\(error)")
    }

    /// Reads lines, and rejects empty ones.
    private struct Lines: ResponseSerializer {
        struct Empty: Error {}

        func serialize(_ response: HTTPResponse?, body: [UInt8]) -> SerializedResponse {
            ResponseCheck().serialize(response, body: body, format: "a list") { body in
                let lines = body.split(separator: 10, omittingEmptySubsequences: false)
                if lines.contains(where: \.isEmpty) { throw Empty() }
                return .custom(lines.map { String(decoding: $0, as: UTF8.self) })
            }
        }
    }

    @Test func `a serializer of one's own says that a body is undecodable`() throws {
        let good = Lines().serialize(try head(), body: Array("a\nb".utf8))
        guard case .custom(let value)? = good.object else { Issue.record("no object"); return }
        #expect(value as? [String] == ["a", "b"] && good.error == nil)
        let bad = Lines().serialize(try head(), body: Array("a\n".utf8))
        #expect(bad.error?.word == "undecodable" && bad.error?.cause is Lines.Empty)
        let made = ResponseError(.undecodable(format: "a list", reason: "it is empty"), response: nil, body: [])
        #expect(made.description == "the body is not a list: it is empty")
    }
}
