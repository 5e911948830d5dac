import ReachCore
import ReachQueue
import Testing

/// What is taken, and what a mistake is called.
@Suite struct QueuedRequestTests {
    @Test(arguments: [
        ("https://Example.NET/x", "https://example.net:443"), ("http://a.example:8080", "http://a.example:8080"),
        ("HTTP://[2001:db8::1]:81/", "http://[2001:db8::1]:81"), ("https://192.0.2.1?q", "https://192.0.2.1:443"),
        ("http://a.example:/", "http://a.example:80"), ("https://a.example/\u{e4} [b]|{c}", "https://a.example:443"),
        ("http://a.example\\@b.example/", "http://a.example:80"),
        ("https://B\u{dc}CHER.example/", "https://xn--bcher-kva.example:443"),
    ])
    func `a destination is scheme, host and port`(url: String, destination: String) throws {
        #expect(try RequestSpecification(url: url).destination.description == destination)
        #expect(Destination(stored: destination).target != nil)
    }

    @Test(arguments: [
        ("ftp://a.example/", "is neither http nor https"), ("file:///etc/passwd", "is neither http nor https"),
        ("a.example", "is not a URL"), ("", "is not a URL"), ("https://", "a host name must not be empty"),
        ("https://user:secret@a.example/", "holds a user name"), ("https://a.example:0/", "has a port"),
        ("https://a.example:99999/", "has a port"), ("https://a b.example/", "has characters"),
        ("https://a.example/\n", "byte 18"), ("https://\u{e4} b.example/", "this name is not a host name"),
        ("https://-a.example/", "is not a host name"),
    ])
    func `a URL that cannot be queued is told why`(url: String, message: String) {
        #expect {
            try RequestSpecification(url: url)
        } throws: { error in
            (error as? RequestValidationError).map { $0.field == .url && $0.description.contains(message) } ?? false
        }
    }

    @Test func `every text of a request counts for its owner`() throws {
        let texts: [(inout RequestSpecification, String) -> Void] = [
            { $0.headers = [HeaderField("A", $1)] }, { $0.headers = [HeaderField($1, "a")] }, { $0.method = $1 },
            { $0.orderKey = $1 }, { $0.uniqueness = .unique(name: $1, mode: .keep) }, { $0.idempotency = .key($1) },
            { $0.tag = $1 }, { $0.outputPath = $1 }, { $0.interceptor = $1 }, { $0.url = $1 },
            { $0.body = .file(path: $1, bytes: 0) }, { $0.body = .inline(Array($1.utf8)) },
        ]
        func bytes(_ change: (inout RequestSpecification, String) -> Void, _ text: String) throws -> Int64 {
            var request = try RequestSpecification(url: "https://a.example/")
            change(&request, text)
            return request.bytesHeld
        }
        for (number, change) in texts.enumerated() {
            let more = try bytes(change, String(repeating: "\u{e4}", count: 500)) - bytes(change, "\u{e4}")
            #expect(more == 998, "text \(number)")
        }
        let long = (0..<60).map { "not network=office-\($0)" }.joined(separator: ", ")
        let plain = try RequestSpecification(url: "https://a.example/")
        let waiting = try RequestSpecification(url: "https://a.example/", condition: NetworkCondition(long))
        #expect(waiting.bytesHeld - plain.bytesHeld == Int64(waiting.condition.description.utf8.count))
    }

    private func mistake(_ change: (inout RequestSpecification) -> Void) throws -> RequestValidationError? {
        var request = try RequestSpecification(url: "https://a.example/")
        change(&request)
        do throws(RequestValidationError) {
            try request.check(QueueLimits())
            return nil
        } catch {
            return error
        }
    }

    @Test func `what HTTP forbids and what is too much is refused by its field`() throws {
        #expect(try mistake { _ in } == nil)
        #expect(try mistake { $0.method = "GET /" }?.field == .method)
        #expect(try mistake { $0.method = "" }?.field == .method)
        #expect(try mistake { $0.method = "CONNECT" }?.field == .method)
        #expect(try mistake { $0.method = String(repeating: "M", count: 32) } == nil)
        #expect(try mistake { $0.method = String(repeating: "M", count: 33) }?.field == .method)
        #expect(try mistake { $0.headers = [HeaderField("A b", "")] }?.field == .header)
        #expect(try mistake { $0.headers = [HeaderField("A", "x\u{1}")] }?.field == .header)
        #expect(try mistake { $0.headers = [HeaderField("Host", "a.example:80")] } == nil)
        #expect(try mistake { $0.headers = [HeaderField("A", "x\r\nB: y")] }?.field == .header)
        #expect(
            try mistake { $0.headers = [HeaderField("A", String(repeating: "x", count: 70_000))] }?.field
                == .header)
        #expect(try mistake { $0.body = .inline([UInt8](repeating: 0, count: 1 << 20)) } == nil)
        #expect(try mistake { $0.body = .inline([UInt8](repeating: 0, count: 1 << 20 + 1)) }?.field == .body)
        #expect(try mistake { $0.timeToLive = .zero }?.field == .timeToLive)
        #expect(try mistake { $0.timeToLive = .seconds(3650 * 86_400) } == nil)
        #expect(try mistake { $0.timeToLive = .seconds(3650 * 86_400 + 1) }?.field == .timeToLive)
        #expect(try mistake { $0.timeToLive = .milliseconds(Int64.max) }?.field == .timeToLive)
        #expect(try mistake { $0.maximumAttempts = 0 }?.field == .maximumAttempts)
        #expect(try mistake { $0.acceptedStatuses = Array(repeating: 200...299, count: 32) } == nil)
        #expect(
            try mistake { $0.acceptedStatuses = Array(repeating: 200...299, count: 33) }?.field == .acceptedStatuses)
        for range in [99...200, 200...600, .min ... .max, 600...700] {
            #expect(try mistake { $0.acceptedStatuses = [range] }?.field == .acceptedStatuses)
        }
        #expect(try mistake { $0.orderKey = "" }?.field == .orderKey)
        #expect(try mistake { $0.dependsOnPrevious = true }?.field == .orderKey)
        #expect(try mistake { $0.uniqueness = .coalesce(key: "") }?.field == .uniqueness)
        #expect(
            try mistake {
                $0.orderKey = "a"
                $0.uniqueness = .coalesce(key: "b")
            }?.field == .uniqueness)
    }

    @Test func `what is at a limit is accepted, and what is beyond it refused by its field`() throws {
        func text(_ count: Int) -> String { String(repeating: "k", count: count) }
        let rows: [(RequestValidationError.Field, Int, (inout RequestSpecification, Int) -> Void)] = [
            (.header, QueueLimits.longestKey, { $0.idempotency = .key(text($1)) }),
            (.header, QueueLimits.mostHeaders, { $0.headers = Array(repeating: HeaderField("A", ""), count: $1) }),
            // The URL, and four bytes around a header, count too.
            (.header, QueueLimits.longestHead - 23, { $0.headers = [HeaderField("A", text($1))] }),
            (.tag, QueueLimits.longestHead, { $0.tag = text($1) }),
            (.interceptor, QueueLimits.longestKey, { $0.interceptor = text($1) }),
            (.orderKey, QueueLimits.longestKey, { $0.orderKey = text($1) }),
            (.uniqueness, QueueLimits.longestKey, { $0.uniqueness = .unique(name: text($1), mode: .keep) }),
            (.uniqueness, QueueLimits.longestKey, { $0.uniqueness = .coalesce(key: text($1)) }),
            (.maximumAttempts, -1, { $0.maximumAttempts = -$1 }),
            (.timeouts, -1, { $0.timeouts = AttemptTimeouts(connect: .seconds(-$1), idle: nil, total: nil) }),
            (.acceptedStatuses, 599, { $0.acceptedStatuses = [100...$1] }),
            (.acceptedStatuses, -100, { $0.acceptedStatuses = [-$1...599] }),
        ]
        for (field, limit, change) in rows {
            #expect(try mistake { change(&$0, limit) } == nil, "\(field.rawValue) \(limit)")
            #expect(try mistake { change(&$0, limit + 1) }?.field == field, "\(field.rawValue) \(limit + 1)")
        }
        for field in [RequestValidationError.Field.interceptor, .uniqueness, .orderKey] {
            let found = try mistake {
                switch field {
                case .interceptor: $0.interceptor = ""
                case .orderKey: $0.orderKey = ""
                default: $0.uniqueness = .unique(name: "", mode: .keep)
                }
            }
            #expect(found?.field == field)
        }
    }

    @Test func `a URL may be as long as a head, and no longer`() throws {
        let start = "https://a.example/"
        func url(_ bytes: Int) -> String { start + String(repeating: "x", count: bytes - start.utf8.count) }
        let longest = try RequestSpecification(url: url(QueueLimits.longestHead))
        try longest.check(QueueLimits())
        #expect {
            try RequestSpecification(url: url(QueueLimits.longestHead + 1))
        } throws: {
            ($0 as? RequestValidationError)?.description.contains("has more than 65536 bytes") == true
        }
    }

    @Test func `a resumable upload has a method, no file for its answer, and none of its own headers`() throws {
        func fault(_ method: String, _ change: (inout RequestSpecification) -> Void = { _ in }) throws
            -> RequestValidationError.Field?
        {
            try mistake {
                $0.method = method
                $0.uploadProtocol = .tus
                change(&$0)
            }?.field
        }
        for method in ["POST", "PATCH"] { #expect(try fault(method) == nil) }
        for method in ["GET", "PUT"] { #expect(try fault(method) == .uploadProtocol) }
        #expect(try fault("POST") { $0.outputPath = "/tmp/x" } == .uploadProtocol)
        for name in ["Tus-Resumable", "upload-offset", "Upload-Length"] {
            #expect(try fault("POST") { $0.headers = [HeaderField(name, "1")] } == .header)
        }
    }

    @Test(
        arguments: [
            ("1", 1), ("9223372036854775807", .max), ("0", nil), ("-1", nil), ("+1", nil), ("", nil), (" 1", nil),
            ("1 ", nil), ("9223372036854775808", nil), ("\u{661}", nil),
        ] as [(String, Int64?)])
    func `a request's number is a positive number in decimal digits`(text: String, number: Int64?) {
        #expect(RequestID(text)?.rawValue == number)
        #expect(RequestID(text).map { $0.description == text } ?? true)
    }

    @Test(arguments: ["Content-Length", "content-length", "Transfer-Encoding", "Connection", "Proxy-Authorization"])
    func `a header that frames the message is refused by its name`(name: String) throws {
        let found = try mistake { $0.headers = [HeaderField("A", "b"), HeaderField(name, "3")] }
        #expect(found?.field == .header && found?.description.contains("'\(name)'") == true)
    }

    @Test func `every kind of fault and every status has its verdict`() {
        func verdict(_ kind: AttemptFault.Kind, changed: Bool = false) -> FailureClassifier.Verdict {
            FailureClassifier.judge(AttemptFault(kind), pathChanged: changed)
        }
        #expect(verdict(.transient) == .undecided)
        #expect(verdict(.transient, changed: true) == .network)
        #expect(verdict(.localNetwork) == .network)
        #expect(verdict(.invalid) == .permanent(.invalid))
        for kind in [AttemptFault.Kind.certificate, .certificateTime] {
            #expect(verdict(kind, changed: true) == .permanent(.untrusted))
        }
        #expect(verdict(.file) == .permanent(.file))
        #expect(verdict(.pin) == .permanent(.pinMismatch))
        #expect(verdict(.redirects) == .permanent(.redirects))
        #expect(verdict(.unreadable) == .permanent(.unreadable))
        for kind in [AttemptFault.Kind.interface, .local] { #expect(verdict(kind) == .uncounted) }
        for status in [408, 425, 429, 500, 502, 503, 504, 522, 524] {
            #expect(FailureClassifier.judge(status: status, isAccepted: false) == .destination)
        }
        for status in [401, 403, 407] {
            #expect(FailureClassifier.judge(status: status, isAccepted: false) == .permanent(.authentication))
        }
        for status in [301, 400, 404, 501, 505] {
            #expect(FailureClassifier.judge(status: status, isAccepted: false) == .permanent(.refused))
        }
        // What the client accepts is success, whatever the number.
        #expect(FailureClassifier.judge(status: 503, isAccepted: true) == .success)
    }
}
