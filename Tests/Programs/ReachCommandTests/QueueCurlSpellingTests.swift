internal import ReachTesting
internal import Testing

/// `reach queue add` with what people type after curl: it makes the request that `reach queue import` makes of it.
@Suite(.timeLimit(.minutes(2))) struct QueueCurlSpellingTests {
    private static let url = "https://example.org/a"

    private static let spellings: [[String]] = [
        ["-X", "POST"], ["-XPOST"], ["--request", "POST"], ["--request=POST"], ["-H", "A: b"], ["-HA:b"], ["-HA: b"],
        ["-d", "a=b"], ["-da=b"], ["--data=a=b"], ["--data-raw", "a=b"], ["--data-binary", "a"],
        ["--data-urlencode", "a=b c"], ["-XPUT", "-da=b"], ["-s"], ["-S"], ["-f"], ["-sS"], ["-sSf"], ["-fsSL"], ["-v"],
        ["-i"], ["-N"], ["-#"], ["-g"], ["--silent", "--show-error", "--fail"], ["--fail-with-body"],
        ["--no-progress-meter"], ["-m", "5"], ["-m5"], ["--max-time", "5"], ["--connect-timeout", "3"],
        ["-w", "%{http_code}"], ["--retry-delay", "2"], ["-b", "a=b"], ["-ba=b"], ["--cookie", "a=b"],
        ["-b", "a=b", "-b", "c=d"], ["-u", "a:b"], ["-ua:b"], ["-I"], ["--head"], ["-e", "https://r.example/"],
        ["--referer", "https://r.example/"], ["-A", "x"], ["-Ax"], ["-L"], ["--compressed"], ["-G", "-da=b"],
        ["--json", #"{"a":1}"#], ["-XPATCH", "--json", #"["a"]"#], ["-F", "a=b"], ["-Fa=b"], ["--retry", "2"],
        ["-x", "none"],
    ]

    /// A form has another boundary each time.
    private static func withoutBoundary(_ line: String) -> Substring {
        line.prefix { $0 != "=" || !line.hasPrefix("Content-Type: multipart") }
    }

    private func queue(_ words: [String]) throws -> BuiltProgram.Result {
        try BuiltProgram.reach.run(["queue"] + words)
    }

    @Test(arguments: spellings) func `a spelling of curl makes the request that import makes of it`(words: [String])
        throws
    {
        let imported = try queue(["import", "--dry-run", "--", "curl"] + words + [Self.url])
        #expect(imported.status == 0, "\(imported.standardError)")
        for order in [words + [Self.url], [Self.url] + words, words + ["--url", Self.url]] {
            let added = try queue(["add", "--dry-run"] + order)
            #expect(added.status == 0, "\(order): \(added.standardError)")
            #expect(added.lines.map(Self.withoutBoundary) == imported.lines.map(Self.withoutBoundary), "\(order)")
        }
    }

    @Test(arguments: ["-k", "-O", "-4", "-6", "--next", "--location-trusted"])
    func `what the queue cannot do is refused with the reason that import gives`(option: String) throws {
        let imported = try queue(["import", "--dry-run", "--", "curl", option, Self.url])
        let added = try queue(["add", "--dry-run", option, Self.url])
        #expect(added.status == 2 && imported.status == 2)
        #expect(added.standardError == imported.standardError)
        #expect(added.standardError.contains("curl's \(option) is not supported"))
    }

    @Test func `a name of a file may have any bytes, and reaches the URL as curl writes it`() throws {
        let directory = try TemporaryDirectory()
        let script = """
            cd \(directory.path); n=$(printf 'caf\\351.txt'); echo x > "$n"
            for words in "-T $n" "-T$n" "-F f=@$n" "-d @$n"; do
              \(BuiltProgram.reach.path) queue add --dry-run $words http://192.0.2.1/up/ || exit 1
            done
            \(BuiltProgram.reach.path) queue import --dry-run -- curl -T "$n" http://192.0.2.1/up/
            \(BuiltProgram.reach.path) queue add --dry-run "http://192.0.2.1/$n" && exit 1
            \(BuiltProgram.reach.path) queue add --dry-run -H "A: $n" http://192.0.2.1/ && exit 1
            exit 0
            """
        let lines = try ChildProcess.run(["sh", "-c", script]).split(separator: "\n")
        #expect(
            lines.filter { $0.contains("http") }.map { $0.replacing("http://192.0.2.1", with: "") } == [
                "PUT /up/caf%E9.txt", "PUT /up/caf%E9.txt", "POST /up/", "POST /up/", "PUT /up/caf%E9.txt",
            ])
        #expect(lines.contains("body: 2 bytes") && lines.contains("body: from caf\u{fffd}.txt"))
    }

    @Test func `a request has one URL, and a file of cookies is none`() throws {
        for words in [[], [Self.url, Self.url], ["--url", Self.url, Self.url], ["-b", "file", Self.url]] {
            #expect(try queue(["add", "--dry-run"] + words).status == 2, "\(words)")
        }
    }
}
