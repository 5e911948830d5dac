import ReachCore
import ReachQueue
import Testing

@testable import reach

@Suite struct CurlCommandTests {
    private func words(_ text: String) throws -> [[String]] {
        try ShellWords.commands(in: Array(text.utf8)).map { $0.map { String(decoding: $0, as: UTF8.self) } }
    }

    private func specification(_ line: String) throws -> RequestSpecification {
        // As bytes: only data may be other than text.
        let command = try CurlCommand(bytes: #require(try ShellWords.commands(in: Array(line.utf8)).first))
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
        #expect(request.followsRedirects && request.isCompressed)
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

    // What bash 5.2 prints for `printf %s $'...' | od -An -tx1` in C.UTF-8; two halves are what JavaScript meant.
    @Test(arguments: [
        (#"\xff\x0a\x9"#, [0xff, 0x0a, 0x09]), (#"\a\b\e\E\f\v\t"#, [7, 8, 27, 27, 12, 11, 9]),
        (#"\351\0601\779"#, [0xe9, 48, 49, 63, 57]),
        (#"\ud83c\udf0d"#, [0xf0, 0x9f, 0x8c, 0x8d]), (#"\udc00x"#, [0xed, 0xb0, 0x80, 0x78]),
        (#"\ud83c\u0041"#, [0xed, 0xa0, 0xbc, 0x41]), (#"\U0001F30D"#, [0xf0, 0x9f, 0x8c, 0x8d]),
        (#"\z\x\u\cA\c?"#, [0x5c, 0x7a, 0x5c, 0x78, 0x5c, 0x75, 1, 0x7f]),
        (#"\u00e9\'\"\?\\"#, [0xc3, 0xa9, 0x27, 0x22, 0x3f, 0x5c]),
    ])
    func `escapes of a copied command keep their bytes`(escapes: String, bytes: [UInt8]) throws {
        let words = try ShellWords.commands(in: Array("$'\(escapes)'".utf8))
        #expect(words == [[bytes]])
    }

    @Test func `bytes that are not UTF-8 stay as they are in data`() throws {
        let line = Array("curl http://h/ --data-binary '".utf8) + [0xff, 0xd8, 0xe9] + Array("'".utf8)
        let command = try CurlCommand(bytes: #require(try ShellWords.commands(in: line).first))
        #expect(try command.request.specification(to: command.url).body == .inline([0xff, 0xd8, 0xe9]))
        #expect(throws: CommandError.self) { try ShellWords.commands(in: Array(#"curl $'a\0b'"#.utf8)) }
    }

    // Rebuilt from what people pasted into reports of curl, curlconverter and shell-quote: each browser in its own form.
    @Test(arguments: [
        #"curl 'http://shop.example/cart' --compressed -X POST -H 'User-Agent: Mozilla/5.0' -H 'Accept-Encoding: gzip, deflate, br, zstd' -H 'Connection: keep-alive' -H 'TE: trailers' --data-raw 'q=1'"#,
        #"curl 'http://shop.example/cart' -X 'POST' -H 'Content-Length: 3' -H 'Host: shop.example' -H 'Connection: keep-alive' -H 'Accept-Encoding: gzip, deflate' --data-binary 'q=1'"#,
        "curl 'http://shop.example/cart' \\\n  -H 'accept: */*' \\\n  -H 'Connection: keep-alive' \\\n  -b 'a=1' -b 'b=2' \\\n  --data-raw 'q=1' ;",
        #"curl --path-as-is -i -s -X $'POST' -H $'Host: shop.example' -H $'Content-Length: 3' --data-binary $'q=1' $'http://shop.example/cart'"#,
        #"curl --location --request POST 'http://shop.example/cart' --header 'Content-Type: text/plain' --data 'q=1'"#,
        #"curl -H ':authority: shop.example' -H 'Upgrade: h2c' -H 'HTTP2-Settings: AAMAAABk' -H 'Connection: Upgrade, HTTP2-Settings' -X POST http://shop.example/cart -d q=1"#,
    ])
    func `what browsers and other programs copy becomes one request without the headers of its connection`(line: String)
        throws
    {
        let commands = try ShellWords.commands(in: Array(line.utf8))
        let command = try CurlCommand(bytes: #require(commands.first))
        let request = try command.request.specification(to: command.url)
        #expect(commands.count == 1 && request.method == "POST" && request.body == .inline(Array("q=1".utf8)))
        #expect(RequestFieldFault.first(in: request.headers) == nil)
        let cookies = request.headers.filter { $0.isNamed("Cookie") }.map(\.value)
        #expect(cookies == (line.contains("-b") && line.contains("a=1") ? ["a=1; b=2"] : []))
        #expect(
            request.isCompressed == line.contains("--compressed")
                && request.followsRedirects == line.contains("--location"))
        let isNoted = ["Connection", "Content-Length"].contains { line.contains($0) }
        #expect(command.notes.contains { $0.contains("left out") } == isNoted)
    }

    @Test func `a header that Connection names is left out, and so is a cookie beside a header Cookie`() throws {
        let words = [
            "-H", "X-Hop: 1", "-H", "Connection: close, x-hop", "-b", "a=1", "-H", "Cookie: c=3", "-H", "X: 2", "h",
        ]
        let command = try CurlCommand(words)
        #expect(command.request.headers == [HeaderField("X", "2"), HeaderField("Cookie", "c=3")])
        #expect(
            command.notes == [
                "-b is left out, as curl does beside a header Cookie",
                "Connection, X-Hop are left out: the queue looks after connections itself",
            ])
    }

    @Test(arguments: [
        (["-g", "http://h/?s=[a]{b}|^c"], "http://h/?s=[a]{b}|^c"),
        ([#"http://h/?s=\[a\]\{b\}"#], "http://h/?s=[a]{b}"),
        (["http://[2001:db8::5]/a|b"], "http://[2001:db8::5]/a|b"), (["http://h/a]b}c"], "http://h/a]b}c"),
    ])
    func `brackets and braces of a URL are sent as curl sends them`(words: [String], url: String) throws {
        let command = try CurlCommand(words)
        #expect(command.url == url)
        #expect(try command.request.specification(to: command.url).url == url)
    }

    @Test func `a command for Windows is refused, and so is a word that would be a second command`() {
        for line in [
            "curl ^\"http://h/^\" ^\n -H ^\"a: b^\"", "curl \"http://h/\" ^\n -H \"a: b\"", "curl http://h/; rm x",
        ] {
            #expect(throws: CommandError.self) { try ShellWords.commands(in: Array(line.utf8)) }
        }
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
        ("curl -H 'Upgrade: websocket' http://h/", "Upgrade"),
        ("curl -4 http://h/", "-4 is not supported: --when family=4"),
        ("curl -6 http://h/", "-6"), ("curl 'http://h/{a,b}'", "pattern of curl, '{a,b}'"),
        ("curl 'http://h/[1-3]'", "'[1-3]'"), ("curl -H $'X: \\xff' http://h/", "not UTF-8"),
        ("curl --path-as-is http://h/a/../b", "--path-as-is"),
        ("curl -d @/nonexistent/file http://h/", "/nonexistent/file"), ("curl ftp://h/", "url"),
    ])
    func `a command that cannot be followed is refused by name`(line: String, part: String) throws {
        let message = try #require(sentence { _ = try specification(line) })
        #expect(message.contains(part), "\(message)")
    }

    @Test func `a form of curl has quotes around names of files, and types of texts`() throws {
        let file = try CurlForm.Part(#"f=@"/tmp/a;b\"c.txt";type=text/plain"#, isCurls: true)
        #expect(
            file.content == .file(#"/tmp/a;b"c.txt"#) && file.type == "text/plain" && file.fileName == #"a;b"c.txt"#)
        let text = try CurlForm.Part(#"t={"a":1};type=application/json"#, isCurls: true)
        #expect(text.content == .text(#"{"a":1}"#) && text.type == "application/json")
        #expect(try CurlForm.Part("t=a;b").content == .text("a;b"))
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
        let form = CurlForm([try .init(text)], number: 35)
        var encoder = MultipartEncoder(boundary: form.boundary)
        #expect(
            String(decoding: encoder.head(form.parts[0].fields), as: UTF8.self)
                == "--reach-z\r\nContent-Disposition: " + expected)
    }
}
