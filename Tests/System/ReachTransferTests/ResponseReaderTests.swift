import ReachCore
import Testing

@testable import ReachTransfer

/// The heads of responses, and the limit of their bodies.
struct ResponseReaderTests {
    private func read(_ reader: inout ResponseReader, _ lines: String...) -> [ResponseReader.Verdict] {
        lines.map { reader.read(line: Array(($0 + "\r\n").utf8)) }.filter { $0 != .proceed }
    }

    @Test func `informational heads are skipped, and trailers are no fields`() {
        var reader = ResponseReader(limit: ResponseLimit())
        #expect(read(&reader, "HTTP/1.1 103 Early Hints", "Link: x", "").isEmpty)
        let verdicts = read(&reader, "HTTP/1.1 200 OK", "A:  b \t", "Content-Length: 7", "", "Trailer: late")
        let head = ResponseHead(
            status: 200, version: "HTTP/1.1",
            fields: [HeaderField("A", "b"), HeaderField("Content-Length", "7")], contentLength: 7)
        #expect(verdicts == [.head(head)])
        #expect(reader.response == head)
    }

    @Test(arguments: ["-1", "1e3", "9999999999999999999999", "", "1, 1"])
    func `a length that is no number is unknown`(text: String) {
        var reader = ResponseReader(limit: ResponseLimit())
        _ = read(&reader, "HTTP/2 200", "content-length: \(text)", "")
        #expect(reader.response?.contentLength == nil)
    }

    @Test(arguments: [
        (["HTTP/1.1 200 OK", "Content-Length: 2"], false),
        (["HTTP/1.1 200 OK", "Transfer-Encoding: Chunked"], false),
        (["HTTP/2 200", "content-length: 2"], false),
        (["HTTP/1.1 103 Early Hints", "Link: x", "", "HTTP/1.1 200 OK", "Content-Length: 2"], false),
        (["HTTP/1.1 200 OK", "Content-Length: 2", "Transfer-Encoding: chunked"], true),
        (["HTTP/1.1 200 OK", "transfer-encoding: chunked", "content-length: 2"], true),
        (["HTTP/1.1 200 OK", "Transfer-Encoding: xchunked"], true),
        (["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], true),
        (["HTTP/1.1 200 OK", "Content-Length: 2", "Content-Length: 2"], true),
        (["HTTP/1.1 200 OK", "Content-Length: 2, 2"], true), (["HTTP/1.1 200 OK", "Content-Length: +2"], true),
        (["HTTP/1.1 200 OK", "Content-Length: "], true), (["HTTP/1.1 200 OK", "Content-Length : 2"], true),
        (["HTTP/1.1 200 OK", "X: a", " Content-Length: 2"], true), (["HTTP/1.1 200 OK", "\tfolded"], true),
        (["HTTP/1.1 200 OK", "no colon"], true), (["HTTP/1.1 200 OK", "X: a\rContent-Length: 2"], true),
        (["HTTP/1.0 200 OK", "Connection: keep-alive", "Content-Length: 2"], true),
        (["HTTP/1.1 200 OK", "HTTP/1.1 204 No Content"], true),
    ])
    func `a response whose end another reader could see elsewhere is ambiguous`(lines: [String], isAmbiguous: Bool) {
        var reader = ResponseReader(limit: ResponseLimit())
        for line in lines + [""] { _ = reader.read(line: Array((line + "\r\n").utf8)) }
        #expect(reader.isAmbiguous == isAmbiguous)
    }

    @Test(arguments: ["HTTP/3.7 200 OK", "HTTP/1.2 200 OK", "HTTP/1.1", " HTTP/1.1 200 OK", "Content-Length: 2"])
    func `a response that does not begin with a known version is none`(line: String) {
        var reader = ResponseReader(limit: ResponseLimit())
        guard case .fail(let failure) = reader.read(line: Array((line + "\r\n").utf8)) else {
            Issue.record("it was accepted")
            return
        }
        #expect(failure.reason == .badResponse)
    }

    @Test func `a folded value is joined by a space, and bytes that are no UTF-8 are Latin-1`() {
        var reader = ResponseReader(limit: ResponseLimit())
        let lines: [[UInt8]] = [
            Array("HTTP/1.1 200 OK".utf8), Array(" before all".utf8), Array("A: one".utf8), Array(" \t two: 2 ".utf8),
            Array("\tthree".utf8), Array("B: caf".utf8) + [0xe9], Array("C: café".utf8), [],
        ]
        for line in lines { _ = reader.read(line: line + [13, 10]) }
        #expect(
            reader.response?.fields == [
                HeaderField("A", "one two: 2 three"), HeaderField("B", "café"), HeaderField("C", "café"),
            ])
    }

    @Test func `a trailer does not begin another response`() {
        var reader = ResponseReader(limit: ResponseLimit())
        _ = read(&reader, "HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", "HTTP/1.1 500 Not This", "")
        #expect(reader.response?.status == 200)
    }

    @Test func `an announced length beyond the limit fails at once, but not for HEAD`() {
        for (method, fails) in [("GET", true), ("HEAD", false)] {
            var reader = ResponseReader(method: method, limit: ResponseLimit(bodyBytes: 10))
            let verdicts = read(&reader, "HTTP/1.1 200 OK", "Content-Length: 11", "")
            guard case .fail(let failure) = verdicts.first else {
                #expect(!fails)
                continue
            }
            #expect(fails && failure.reason == .responseTooLarge)
        }
    }

    @Test(
        arguments: [
            ("bytes 500-4999/5000", true), ("bytes 500-4999/*", true), ("bytes 500-999/5000", false),
            ("bytes 499-4999/5000", false), ("bytes */5000", false), ("", false),
        ])
    func `a part is accepted if it is all that is missing`(range: String, isAccepted: Bool) {
        var reader = ResponseReader(
            limit: ResponseLimit(bodyBytes: 10_000), resume: ResumePoint(offset: 500, entityTag: "\"one\""))
        let verdicts = read(&reader, "HTTP/1.1 206 Part", "ETag: \"one\"", "Content-Range: \(range)", "")
        if case .fail(let failure)? = verdicts.first {
            #expect(!isAccepted && failure.reason == .badRange)
        } else {
            #expect(isAccepted)
        }
    }

    /// A server may change a file and keep its tag.
    @Test(
        arguments: [
            ("bytes 500-4999/5000", 5000, true), ("bytes 500-5999/6000", 5000, false),
            ("bytes 500-3999/4000", 5000, false),
            ("bytes 500-5999/*", 5000, true), ("bytes 500-5999/6000", nil, true),
        ] as [(String, UInt64?, Bool)])
    func `a part of a file with another length is not joined`(range: String, total: UInt64?, isAccepted: Bool) {
        var reader = ResponseReader(
            limit: ResponseLimit(bodyBytes: 10_000),
            resume: ResumePoint(offset: 500, entityTag: "\"one\"", total: total))
        let verdicts = read(&reader, "HTTP/1.1 206 Part", "ETag: \"one\"", "Content-Range: \(range)", "")
        if case .fail(let failure)? = verdicts.first {
            #expect(!isAccepted && failure.reason == .badRange)
        } else {
            #expect(isAccepted)
        }
    }

    @Test func `a part that nobody asked for is no whole answer`() {
        var reader = ResponseReader(limit: ResponseLimit(bodyBytes: 10_000))
        let verdicts = read(&reader, "HTTP/1.1 206 Part", "Content-Range: bytes 0-99/5000", "")
        guard case .fail(let failure)? = verdicts.first else { return _ = Issue.record("\(verdicts)") }
        #expect(failure.reason == .badRange)
    }

    @Test(arguments: [("bytes 0-99/100", true), ("bytes 50-99/100", false), ("bytes 0-49/100", false), ("x", true)])
    func `a part that is called the whole is no whole answer`(range: String, isAccepted: Bool) {
        var reader = ResponseReader(limit: ResponseLimit(bodyBytes: 10_000))
        let verdicts = read(&reader, "HTTP/1.1 200 OK", "Content-Range: \(range)", "")
        if case .fail(let failure)? = verdicts.first {
            #expect(!isAccepted && failure.reason == .badRange)
        } else {
            #expect(isAccepted)
        }
    }

    @Test func `no more than the limit is accepted, and exactly the limit is`() {
        var reader = ResponseReader(limit: ResponseLimit(bodyBytes: 10, action: .stop))
        #expect(reader.accept(7) == (7, .proceed))
        #expect(reader.accept(3) == (3, .proceed))
        #expect(reader.accept(1) == (0, .enough))
        #expect(reader.bodyBytes == 10)
    }

    @Test(
        arguments: [
            ("bytes 0-0/1", 0, 1), ("bytes 5-9/*", 5, nil), ("BYTES 5-9/10", 5, 10), ("bytes */10", nil, 10),
        ] as [(String, UInt64?, UInt64?)])
    func `a content range is read`(text: String, first: UInt64?, total: UInt64?) {
        let range = ContentRange(text)
        #expect(range?.first == first)
        #expect(range?.total == total)
        #expect(range != nil)
    }

    @Test(arguments: [
        "", "bytes", "bytes 1-2", "bytes 2-1/3", "bytes 0-3/3", "bytes -1/3", "items 0-1/3", "bytes 0-1/3/4",
    ])
    func `a malformed content range is refused`(text: String) { #expect(ContentRange(text) == nil) }

    @Test(arguments: [
        ("\"a\"", true), ("\"\"", true), ("W/\"a\"", false), ("a", false), ("\"a", false), ("\"a\"b\"", false),
        ("\"", false), ("", false), ("\"a\nb\"", false),
    ])
    func `only a strong entity tag is recognised as one`(text: String, isStrong: Bool) {
        #expect(ResumePoint.isStrong(text) == isStrong)
    }
}
