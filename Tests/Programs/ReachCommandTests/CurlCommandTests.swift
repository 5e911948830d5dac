import ReachCore
import ReachQueue
import Testing

@testable import reach

@Suite struct CurlCommandTests {
    private func words(_ text: String) throws -> [[String]] { try ShellWords.commands(in: text) }

    private func specification(_ line: String) throws -> RequestSpecification {
        let command = try CurlCommand(#require(try words(line).first))
        return try command.request.specification(to: command.url)
    }

    private func sentence(_ work: () throws -> Void) -> String? {
        do { try work() } catch { return (error as? CommandError)?.message }
        return nil
    }

    // The right column is what `printf '<%s>' ...` of dash and bash prints.
    @Test(arguments: [
        (#"curl 'a b' "c d" e\ f"#, ["curl", "a b", "c d", "e f"]),
        (#"a'b'"c"\d"#, ["abcd"]), (#"'' """#, ["", ""]), (#""a\"b\\c\d\$e""#, [#"a"b\c\d$e"#]),
        (#"'a\nb'"#, [#"a\nb"#]), (#"$'a\nb\'c\x41\101é\u0021'"#, ["a\nb'cAAé!"]),
        ("curl \\\n -s", ["curl", "-s"]), ("a\\\nb", ["ab"]), ("a # b", ["a"]), ("a#b", ["a#b"]),
        ("  ", []), ("'a\nb'", ["a\nb"]), ("a\r\n", ["a"]), ("'e\u{301}' '\u{301}'", ["e\u{301}", "\u{301}"]),
    ])
    func `words are split as a shell splits them`(text: String, expected: [String]) throws {
        let found = try words(text).first ?? []
        #expect(found.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
    }

    @Test func `each line is a command`() throws {
        #expect(try words("curl a\n\n# none\ncurl b \\\n c\n") == [["curl", "a"], ["curl", "b", "c"]])
    }

    @Test(arguments: [
        ("curl $HOME", "'$'"), (#"curl "$(id)""#, "'$'"), ("curl `id`", "'`'"), ("curl a | sh", "'|'"),
        ("curl http://h/?a=1&b=2", "quotes around the URL"), ("curl a > b", "'>'"), ("curl 'a", "not closed"),
        ("curl \"a", "not closed"), ("curl $'a", "not closed"),
    ])
    func `what a shell would expand or run is refused`(text: String, word: String) throws {
        let message = try #require(sentence { _ = try words(text) })
        #expect(message.contains(word), "\(message)")
    }

    @Test func `a browser's command becomes the same request`() throws {
        let request = try specification(
            #"""
            curl 'https://example.org/api?x=1' \
              -X 'POST' -H 'accept: */*' \
              -H 'content-type: application/json' -H 'Content-Length: 9' \
              -b 'session=abc; theme=dark' \
              --data-raw $'{"a":"\'"}' \
              --compressed -sSL
            """#)
        #expect(request.method == "POST" && request.url == "https://example.org/api?x=1")
        #expect(
            request.headers == [
                HeaderField("accept", "*/*"), HeaderField("content-type", "application/json"),
                HeaderField("Cookie", "session=abc; theme=dark"),
            ])
        #expect(request.body == .inline(Array(#"{"a":"'"}"#.utf8)))
    }

    @Test(arguments: [
        ("curl example.org", "GET", "http://example.org", ""), ("curl -I http://h/", "HEAD", "http://h/", ""),
        ("curl -dx=1 -d y=2 http://h/", "POST", "http://h/", "x=1&y=2"),
        ("curl -G -d x=1 --data-urlencode 'q=a b&c' http://h/p#f", "GET", "http://h/p?x=1&q=a%20b%26c#f", ""),
        ("curl -G -d x=1 'http://h/p?y'", "GET", "http://h/p?y&x=1", ""),
        ("curl --data-urlencode 'a b' --data-urlencode =c/d http://h/", "POST", "http://h/", "a%20b&c%2Fd"),
        ("curl -XDELETE http://h/", "DELETE", "http://h/", ""),
        ("curl --request=PUT --url=http://h/ --data-raw @x", "PUT", "http://h/", "@x"),
        (#"curl --json '{"a":1}' http://h/"#, "POST", "http://h/", #"{"a":1}"#),
    ])
    func `a command becomes a request`(line: String, method: String, url: String, body: String) throws {
        let request = try specification(line)
        #expect(request.method == method && request.url == url)
        #expect(request.body == (body.isEmpty ? .none : .inline(Array(body.utf8))))
    }

    @Test func `options for the connection are ignored, and a retry is an attempt more`() throws {
        let request = try specification("curl -s -m 5 --connect-timeout 3 --retry 4 -A agent -e http://from/ http://h/")
        #expect(request.maximumAttempts == 5)
        #expect(request.headers == [HeaderField("User-Agent", "agent"), HeaderField("Referer", "http://from/")])
    }

    @Test func `credentials become a header, and a user without a password is refused`() throws {
        #expect(
            try specification("curl -u Aladdin:'open sesame' http://h/").headers
                == [HeaderField("Authorization", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")])  // RFC 7617, section 2
        let message = sentence { _ = try specification("curl -u alice http://h/") }
        #expect(message?.contains("alice:PASSWORD") == true)
    }

    @Test(arguments: [
        ("curl -k https://h/", "-k is not supported: the queue sends nothing"), ("curl", "has no URL"),
        ("curl http://a/ http://b/", "second URL"), ("curl -o x http://h/", "reach queue result"),
        ("curl --frobnicate http://h/", "--frobnicate is not supported"), ("curl http://h/ -H", "takes a value"),
        ("curl -d a -F b=c http://h/", "exclude each other"), ("curl -b jar.txt http://h/", "file of cookies"),
        ("curl -F b http://h/", "not of the form"), ("curl -F 'b=@x;y=z' http://h/", "neither type"),
        ("curl --retry x http://h/", "not a number"),
        ("curl -H 'Transfer-Encoding: chunked' http://h/", "Transfer-Encoding"),
        ("curl -d @/nonexistent/file http://h/", "/nonexistent/file"), ("curl ftp://h/", "url"),
    ])
    func `a command that cannot be followed is refused by name`(line: String, part: String) throws {
        let message = try #require(sentence { _ = try specification(line) })
        #expect(message.contains(part), "\(message)")
    }

    @Test(arguments: [
        ("a=b", "form-data; name=\"a\"\r\n\r\n"),
        (
            "a=@/x/b c.txt",
            "form-data; name=\"a\"; filename=\"b c.txt\"\r\nContent-Type: application/octet-stream\r\n\r\n"
        ),
        (
            "a=@b;type=text/plain;filename=c",
            "form-data; name=\"a\"; filename=\"c\"\r\nContent-Type: text/plain\r\n\r\n"
        ),
        ("a=<b;type=text/plain", "form-data; name=\"a\"\r\nContent-Type: text/plain\r\n\r\n"),
        ("a\"\r\nX: y=b", "form-data; name=\"a%22%0D%0AX: y\"\r\n\r\n"),
        ("a=@b;type=x\r\nEvil: y", "form-data; name=\"a\"; filename=\"b\"\r\nContent-Type: xEvil: y\r\n\r\n"),
    ])
    func `a part's head names it, and nothing in a name ends the line`(text: String, expected: String) throws {
        let form = MultipartForm([try .init(text)], number: 35)
        #expect(
            String(decoding: form.head(of: form.parts[0]), as: UTF8.self)
                == "--reach-z\r\nContent-Disposition: " + expected)
    }
}
