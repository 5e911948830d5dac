import ReachSerialization
import Testing

/// Event streams and lines, in any pieces.
@Suite struct ServerSentEventTests {
    private func events(_ text: String, pieces: Int = .max) throws -> [ServerSentEvent] {
        var parser = ServerSentEventParser()
        return try events(text, pieces, &parser)
    }

    private func events(
        _ text: String, _ pieces: Int, _ parser: inout ServerSentEventParser
    ) throws -> [ServerSentEvent] {
        var (rest, found) = (Array(text.utf8)[...], [ServerSentEvent]())
        while !rest.isEmpty {
            found += try parser.append(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
        }
        return found
    }

    @Test(arguments: [
        // The examples of the standard, then its rules.
        ("data: YHOO\ndata: +2\ndata: 10\n\n", [ServerSentEvent(data: "YHOO\n+2\n10")]),
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            [
                ServerSentEvent(data: "first event", id: "1"), ServerSentEvent(data: "second event"),
                ServerSentEvent(data: " third event"),
            ]
        ),
        ("data\n\ndata\ndata\n\ndata:", [ServerSentEvent(data: ""), ServerSentEvent(data: "\n")]),
        ("data:test\n\ndata: test\n\n", [ServerSentEvent(data: "test"), ServerSentEvent(data: "test")]),
        ("\u{feff}data: a\r\rdata: b\r\n\r\ndata: c\n\n", ["a", "b", "c"].map { ServerSentEvent(data: $0) }),
        ("event: add\ndata: 1\n\ndata: 2\n\n", [ServerSentEvent(type: "add", data: "1"), ServerSentEvent(data: "2")]),
        ("event: add\n\ndata: 2\n\n", [ServerSentEvent(data: "2")]),
        ("id: 7\n\ndata: a\n\n", [ServerSentEvent(data: "a", id: "7")]),
        ("id: 7\0\ndata: a\n\n", [ServerSentEvent(data: "a")]),
        ("Data: a\nother: b\n:data: c\ndata: d\n\n", [ServerSentEvent(data: "d")]),
        ("data: gr\u{fc}n \u{1f600}\n\n", [ServerSentEvent(data: "gr\u{fc}n \u{1f600}")]),
        ("data: a\n", []), ("", []), ("\n\n\n", []),
    ])
    func `a stream is read by the standard's rules, whatever pieces it arrives in`(
        text: String, expected: [ServerSentEvent]
    ) throws {
        for pieces in [1, 2, 3, 7, .max] { #expect(try events(text, pieces: pieces) == expected) }
    }

    @Test func `the last ID and the time to reconnect are known for the next connection`() throws {
        var parser = ServerSentEventParser(lastEventID: "3")
        #expect(parser.lastEventID == "3" && parser.reconnectionTime == nil)
        #expect(try events("data: a\n\nid: 4\nretry: 250\ndata: b\n\n", 5, &parser).map(\.id) == ["3", "4"])
        #expect(parser.lastEventID == "4" && parser.reconnectionTime == .milliseconds(250))
        // An event that is not complete sets no ID, and only digits are a time.
        _ = try events("retry: 1s\nretry:\nid: 5\ndata: c\n", 5, &parser)
        #expect(parser.lastEventID == "4" && parser.reconnectionTime == .milliseconds(250))
    }

    @Test func `lines and data are limited`() {
        var parser = ServerSentEventParser(limit: 10)
        #expect(throws: LineTooLong(limit: 10)) { try parser.append("data: 12345".utf8) }
        var other = ServerSentEventParser(limit: 10)
        #expect(throws: LineTooLong.self) { try other.append("data:1234\ndata:5678\ndata:9012\n".utf8) }
    }

    @Test(arguments: [
        ("a\nb\r\n\nc", ["a", "b", "", "c"]), ("a\rb\n", ["a\rb"]), ("", []), ("\n", [""]), ("a", ["a"]),
    ])
    func `text is split into lines`(text: String, lines: [String]) throws {
        for pieces in [1, 2, .max] {
            var (splitter, rest, found) = (LineSplitter(), Array(text.utf8)[...], [[UInt8]]())
            while !rest.isEmpty {
                found += try splitter.append(rest.prefix(pieces))
                rest = rest.dropFirst(pieces)
            }
            if let last = splitter.finish() { found.append(last) }
            #expect(found.map { String(decoding: $0, as: UTF8.self) } == lines)
        }
    }
}
