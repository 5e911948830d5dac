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

    @Test func `a request has one URL, and a file of cookies is none`() throws {
        for words in [[], [Self.url, Self.url], ["--url", Self.url, Self.url], ["-b", "file", Self.url]] {
            #expect(try queue(["add", "--dry-run"] + words).status == 2, "\(words)")
        }
    }
}
