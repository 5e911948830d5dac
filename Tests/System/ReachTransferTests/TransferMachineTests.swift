import ReachCore
import ReachTesting
import Testing

@testable import ReachTransfer

/// The order of a transfer's events: no sockets, no clock, no waiting.
struct TransferMachineTests {
    private static let addresses = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].compactMap { IPAddress($0) }
    private static let server: MachineScript.Step = .resolved(.success(addresses))

    /// One transfer from its start to its end, and the actions that follow from each event.
    struct Course: CustomTestStringConvertible, Sendable {
        let name: String
        let request: @Sendable (inout TransferRequest) -> Void
        let steps: [MachineScript.Step]
        let actions: [String]

        init(
            _ name: String, _ request: @escaping @Sendable (inout TransferRequest) -> Void,
            _ steps: [MachineScript.Step], _ actions: [String]
        ) {
            (self.name, self.request, self.steps, self.actions) = (name, request, steps, actions)
        }

        init(_ name: String, _ steps: [MachineScript.Step], _ actions: [String]) {
            self.init(name, { _ in }, steps, actions)
        }

        var testDescription: String { name }
    }

    private static let plain = [
        Course(
            "a response with a body",
            [.begin, server, .sending, .head(200), .body(4), .moved(received: 4), .ended(received: 4)],
            [
                "resolve example.org", "attempt 192.0.2.1", "sending", "head 200", "progress 0/4",
                "end 200 sent 0 of 0 got 4",
            ]),
        Course(
            "an address in the URL is not looked up", { $0.url = Self.url("http://192.0.2.9/") },
            [.begin, .sending, .ended(received: 0)], ["attempt 192.0.2.9", "sending", "end 200 sent 0 of 0 got 0"]),
        Course(
            "given addresses of the family asked for",
            {
                $0.addresses = [IPAddress("2001:db8::1"), IPAddress("192.0.2.8")].compactMap(\.self)
                $0.family = .ipv4
            }, [.begin, .sending, .ended(received: 0)],
            ["attempt 192.0.2.8", "sending", "end 200 sent 0 of 0 got 0"]),
        Course(
            "no address of the family asked for", { $0.family = .ipv6 }, [.begin, server],
            ["resolve example.org", "end name-not-found"]),
        Course(
            "certificates are awaited before an https attempt", { $0.url = Self.url("https://example.org/") },
            [.begin, server, .trusted, .sending, .ended(received: 0)],
            ["resolve example.org", "trust", "attempt 192.0.2.1", "sending", "end 200 sent 0 of 0 got 0"]),
        Course(
            "certificates that are none", { $0.url = Self.url("https://example.org/") },
            [.begin, server, .failed(.badRequest)], ["resolve example.org", "trust", "end bad-request"]),
        Course("a request with a fault sends nothing", { $0.method = "a b" }, [.begin, server], ["end bad-request"]),
        Course(
            "a connection without a request", { $0.connection = .connectOnly }, [.begin, server, .ended(received: 0)],
            ["resolve example.org", "attempt 192.0.2.1", "end connected"]),
        Course(
            "an end without a head", [.begin, server, .sending, .endedWithoutHead],
            ["resolve example.org", "attempt 192.0.2.1", "sending", "end empty-response"]),
        Course(
            "a body is opened before its name is looked up", { ($0.method, $0.body) = ("PUT", .file(path: "f")) },
            [.begin, .opened(9), server, .sending, .moved(sent: 9), .head(201), .ended(received: 0, sent: 9)],
            [
                "open body", "resolve example.org", "attempt 192.0.2.1", "sending", "progress 9/0", "head 201",
                "end 201 sent 9 of 9 got 0",
            ]),
        Course(
            "a body that cannot be opened", { ($0.method, $0.body) = ("PUT", .file(path: "f")) },
            [.begin, .failed(.fileFailed), server], ["open body", "end file-failed"]),
        Course(
            "a response before the upload ended", { ($0.method, $0.body) = ("PUT", .file(path: "f")) },
            [.begin, .opened(9), server, .sending, .moved(sent: 3), .head(401), .ended(received: 0, sent: 3)],
            [
                "open body", "resolve example.org", "attempt 192.0.2.1", "sending", "progress 3/0", "head 401",
                "end 401 sent 3 of 9 got 0",
            ]),
        Course(
            "pieces of a body that are not kept", { $0.sink = .events },
            [.begin, server, .sending, .head(200), .body(2), .body(3), .ended(received: 5)],
            [
                "resolve example.org", "attempt 192.0.2.1", "sending", "head 200", "body 2", "body 3", "progress 0/5",
                "end 200 sent 0 of 0 got 5",
            ]),
    ]

    private static let failures = [
        Course(
            "a name that does not exist", [.begin, .resolved(.failure(.notFound("none")))],
            ["resolve example.org", "end name-not-found"]),
        Course(
            "name servers that are silent", [.begin, .resolved(.failure(.silent("none")))],
            ["resolve example.org", "end name-server-silent"]),
        Course(
            "addresses that fail one after the other",
            [
                .begin, server, .endedBefore(.connectionRefused), .endedBefore(.hostUnreachable), .sending,
                .ended(received: 0),
            ],
            [
                "resolve example.org", "attempt 192.0.2.1", "attempt 192.0.2.2", "attempt 192.0.2.3", "sending",
                "end 200 sent 0 of 0 got 0",
            ]),
        Course(
            "the last of the addresses says why",
            [
                .begin, server, .endedBefore(.connectionRefused), .endedBefore(.connectionRefused),
                .endedBefore(.hostUnreachable),
            ],
            [
                "resolve example.org", "attempt 192.0.2.1", "attempt 192.0.2.2", "attempt 192.0.2.3",
                "end host-unreachable",
            ]),
        Course(
            "a family without a route says less than the other's failure",
            [
                .begin, server, .endedBefore(.networkUnreachable), .endedBefore(.connectionRefused),
                .endedBefore(.networkUnreachable),
            ],
            [
                "resolve example.org", "attempt 192.0.2.1", "attempt 192.0.2.2", "attempt 192.0.2.3",
                "end connection-refused",
            ]),
        Course(
            "a certificate that is not trusted is the last attempt", { $0.url = Self.url("https://example.org/") },
            [.begin, server, .trusted, .endedBefore(.certificateUntrusted), .sending],
            ["resolve example.org", "trust", "attempt 192.0.2.1", "end certificate-untrusted"]),
        Course(
            "a connection over another interface is the last attempt", [.begin, server, .endedBefore(.wrongPath)],
            ["resolve example.org", "attempt 192.0.2.1", "end wrong-path"]),
        Course(
            "an attempt that cannot be started", [.begin, server, .failed(.outOfMemory)],
            ["resolve example.org", "attempt 192.0.2.1", "end out-of-memory"]),
        Course(
            "a failure after the request was sent tries no other address",
            [.begin, server, .sending, .endedAfter(.connectionReset)],
            ["resolve example.org", "attempt 192.0.2.1", "sending", "end connection-reset"]),
        Course(
            "a network that changes ends the attempt",
            [.begin, server, .sending, .interrupted(.networkChanged), .stopped()],
            ["resolve example.org", "attempt 192.0.2.1", "sending", "stop", "end network-changed"]),
        Course(
            "what was received before the attempt is stopped is reported", { $0.sink = .events },
            [.begin, server, .sending, .head(200), .interrupted(.networkChanged), .body(3), .stopped(received: 3)],
            [
                "resolve example.org", "attempt 192.0.2.1", "sending", "head 200", "stop", "body 3", "progress 0/3",
                "end network-changed",
            ]),
    ]

    /// The timeouts are 12 s to connect, 30 s in all, and 5 s with less than 100 bytes.
    private static let times = [
        Course(
            "a name that takes too long", [.begin, .clock(12), server],
            ["resolve example.org", "end name-server-silent"]),
        Course(
            "a silent address is not stopped when the next one is tried, and the first connection counts",
            [.begin, server, .clock(0.25), .clock(0.5), .clock(2), .sending, .ended(received: 0)],
            [
                "resolve example.org", "attempt 192.0.2.1", "attempt 192.0.2.2", "attempt 192.0.2.3", "sending",
                "end 200 sent 0 of 0 got 0",
            ]),
        Course(
            "an address that fails is followed by the next one at once, and ends no other",
            [
                .begin, server, .clock(0.25), .endedBefore(.connectionRefused), .endedBefore(.hostUnreachable),
                .sending,
                .ended(received: 0),
            ],
            [
                "resolve example.org", "attempt 192.0.2.1", "attempt 192.0.2.2", "attempt 192.0.2.3", "sending",
                "end 200 sent 0 of 0 got 0",
            ]),
        Course(
            "a server that is not trusted at one address is not asked at others, and one that was tried may do",
            { $0.url = Self.url("https://example.org/") },
            [
                .begin, server, .trusted, .clock(0.25), .endedBefore(.certificateUntrusted), .clock(2), .sending,
                .ended(received: 0),
            ],
            [
                "resolve example.org", "trust", "attempt 192.0.2.1", "attempt 192.0.2.2", "sending",
                "end 200 sent 0 of 0 got 0",
            ]),
        Course(
            "of several failures the one of the server itself is reported",
            { $0.url = Self.url("https://example.org/") },
            [
                .begin, server, .trusted, .clock(0.25), .endedBefore(.certificateUntrusted),
                .endedBefore(.connectionRefused),
            ],
            ["resolve example.org", "trust", "attempt 192.0.2.1", "attempt 192.0.2.2", "end certificate-untrusted"]),
        Course(
            "all addresses are silent",
            [.begin, server, .clock(0.25), .clock(0.5), .clock(12), .stopped()],
            [
                "resolve example.org", "attempt 192.0.2.1", "attempt 192.0.2.2", "attempt 192.0.2.3", "stop",
                "end connect-timeout",
            ]),
        Course(
            "a server that is silent", [.begin, server, .sending, .clock(5), .stopped()],
            ["resolve example.org", "attempt 192.0.2.1", "sending", "stop", "end idle-timeout"]),
        Course(
            "a server at the least rate continues until it is below it",
            [
                .begin, server, .sending, .moved(received: 100), .clock(5), .moved(received: 199), .clock(10),
                .stopped(received: 199),
            ],
            [
                "resolve example.org", "attempt 192.0.2.1", "sending", "progress 0/100", "progress 0/199", "stop",
                "end idle-timeout",
            ]),
        Course(
            "a server that never ends meets the limit of it all",
            [
                .begin, server, .sending, .moved(received: 1000), .clock(5), .moved(received: 2000), .clock(10),
                .moved(received: 3000), .clock(15), .moved(received: 4000), .clock(20), .moved(received: 5000),
                .clock(25), .moved(received: 6000), .clock(30), .stopped(received: 6000),
            ],
            [
                "resolve example.org", "attempt 192.0.2.1", "sending", "progress 0/1000", "progress 0/2000",
                "progress 0/3000", "progress 0/4000", "progress 0/5000", "progress 0/6000", "stop", "end timeout",
            ]),
        Course(
            "a disk that holds the server back is not the server's silence",
            [
                .begin, server, .sending, .paused(received: 10), .clock(5), .diskMoved(received: 10), .clock(6),
                .clock(9.9), .clock(10), .stopped(received: 10),
            ],
            [
                "resolve example.org", "attempt 192.0.2.1", "sending", "progress 0/10", "resume", "stop",
                "end idle-timeout",
            ]),
        Course(
            "progress is reported ten times a second, and at the end",
            [
                .begin, server, .sending, .moved(received: 1), .clock(0.05), .moved(received: 2), .clock(0.1),
                .moved(received: 3), .clock(0.11), .ended(received: 4),
            ],
            [
                "resolve example.org", "attempt 192.0.2.1", "sending", "progress 0/1", "progress 0/3", "progress 0/4",
                "end 200 sent 0 of 0 got 4",
            ]),
        Course(
            "the timeout of an upload that waits for its file", { ($0.method, $0.body) = ("PUT", .file(path: "f")) },
            [.begin, .clock(12), .opened(1)], ["open body", "end connect-timeout"]),
    ]

    private static let redirects = [
        Course(
            "a redirect is another hop, with hooks of its own", { $0.redirects = .follow(limit: 1) },
            [
                .begin, server, .sending, .redirect(to: "http://192.0.2.7/there", received: 4), .decided(true),
                .sending, .head(200), .ended(received: 2),
            ],
            [
                "resolve example.org", "attempt 192.0.2.1", "sending", "ask http://192.0.2.7/there",
                "attempt 192.0.2.7", "sending", "head 200", "progress 0/6", "end 200 sent 0 of 0 got 6",
            ]),
        Course(
            "a redirect that the handler refuses", { $0.redirects = .follow(limit: 1) },
            [.begin, server, .sending, .redirect(to: "/there"), .decided(false), .sending],
            [
                "resolve example.org", "attempt 192.0.2.1", "sending", "ask http://example.org/there",
                "end redirect-refused",
            ]),
        Course(
            "one redirect too many", { $0.redirects = .follow(limit: 1) },
            [
                .begin, server, .sending, .redirect(to: "/a"), .decided(true), server, .sending, .redirect(to: "/b"),
                .decided(true),
            ],
            [
                "resolve example.org", "attempt 192.0.2.1", "sending", "ask http://example.org/a",
                "resolve example.org", "attempt 192.0.2.1", "sending", "end too-many-redirects",
            ]),
        Course(
            "a redirect to another scheme", { $0.redirects = .follow(limit: 1) },
            [.begin, server, .sending, .redirect(to: "ftp://example.org/")],
            ["resolve example.org", "attempt 192.0.2.1", "sending", "end unsupported-protocol"]),
        Course(
            "a redirect that makes a POST a GET takes no body along",
            { ($0.method, $0.body, $0.redirects) = ("POST", .bytes([1, 2, 3]), .follow(limit: 1)) },
            [
                .begin, .opened(3), server, .sending, .moved(sent: 3), .redirect(to: "/a", sent: 3), .decided(true),
                server, .sending, .ended(received: 0),
            ],
            [
                "open body", "resolve example.org", "attempt 192.0.2.1", "sending", "progress 3/0",
                "ask http://example.org/a", "resolve example.org", "attempt 192.0.2.1", "sending",
                "end 200 sent 3 of 0 got 0",
            ]),
    ]

    private static let files = [
        Course(
            "a download goes to its file, which is awaited", { $0.sink = .file(FileSink(path: "f")) },
            [.begin, server, .sending, .head(200), .body(4), .ended(received: 4), .clock(30), .closed(nil)],
            [
                "resolve example.org", "attempt 192.0.2.1", "sending", "head 200", "file keep 0 first 0", "write 4",
                "close", "progress 0/4", "end 200 sent 0 of 0 got 4 file 4",
            ]),
        Course(
            "an error page goes into memory", { $0.sink = .file(FileSink(path: "f")) },
            [.begin, server, .sending, .head(404), .body(4), .ended(received: 4)],
            [
                "resolve example.org", "attempt 192.0.2.1", "sending", "head 404", "progress 0/4",
                "end 404 sent 0 of 0 got 4",
            ]),
        Course(
            "a body that outgrows memory goes to a file with what came before", { $0.sink = Self.file(memory: 5) },
            [
                .begin, server, .sending, .head(200), .body(3), .body(2), .body(2), .body(1), .ended(received: 8),
                .closed(nil),
            ],
            [
                "resolve example.org", "attempt 192.0.2.1", "sending", "head 200", "file keep 0 first 7", "write 1",
                "close", "progress 0/8", "end 200 sent 0 of 0 got 8 file 8",
            ]),
        Course(
            "a download that stops in the middle can be resumed", { $0.sink = .file(FileSink(path: "f")) },
            [.begin, server, .sending, .head(200), .body(4), .endedAfter(.truncated, received: 4), .closed(nil)],
            [
                "resolve example.org", "attempt 192.0.2.1", "sending", "head 200", "file keep 0 first 0", "write 4",
                "close", "progress 0/4", "end truncated file 4 resume 4",
            ]),
        Course(
            "a download is resumed", { $0.sink = Self.file(resume: 100) },
            [.begin, server, .sending, .head(206), .body(4), .endedAfter(.truncated, received: 4), .closed(nil)],
            [
                "resolve example.org", "attempt 192.0.2.1", "sending", "head 206", "file keep 100 first 0", "write 4",
                "close", "progress 0/4", "end truncated file 104 resume 104",
            ]),
        Course(
            "a server that sends all of it again", { $0.sink = Self.file(resume: 100) },
            [.begin, server, .sending, .head(200), .body(4), .ended(received: 4), .closed(nil)],
            [
                "resolve example.org", "attempt 192.0.2.1", "sending", "head 200", "file keep 0 first 0", "write 4",
                "close", "progress 0/4", "end 200 sent 0 of 0 got 4 file 4",
            ]),
        Course(
            "a disk that fails while the file is closed", { $0.sink = .file(FileSink(path: "f")) },
            [.begin, server, .sending, .head(200), .body(4), .ended(received: 4), .closed(.fileFailed)],
            [
                "resolve example.org", "attempt 192.0.2.1", "sending", "head 200", "file keep 0 first 0", "write 4",
                "close", "progress 0/4", "end file-failed file 4",
            ]),
        Course(
            "what failed first is reported, and nothing is resumed from a bad file",
            { $0.sink = .file(FileSink(path: "f")) },
            [
                .begin, server, .sending, .head(200), .body(4), .endedAfter(.truncated, received: 4),
                .closed(.fileFailed),
            ],
            [
                "resolve example.org", "attempt 192.0.2.1", "sending", "head 200", "file keep 0 first 0", "write 4",
                "close", "progress 0/4", "end truncated file 4",
            ]),
        Course(
            "a disk that fails in the middle", { $0.sink = .file(FileSink(path: "f")) },
            [
                .begin, server, .sending, .head(200), .body(4), .interrupted(.fileFailed), .stopped(received: 4),
                .closed(.fileFailed),
            ],
            [
                "resolve example.org", "attempt 192.0.2.1", "sending", "head 200", "file keep 0 first 0", "write 4",
                "stop", "close", "progress 0/4", "end file-failed file 4",
            ]),
    ]

    private static let silences = [
        Course(
            "a request that may arrive twice leaves a connection that was used before, once",
            { $0.timeouts = TransferTimeouts(idle: .seconds(60)) },
            [
                .begin, server, .sendingOnUsed, .silent(3, 3), .silent(4, 4), .stopped(), server, .sendingOnUsed,
                .silent(7, 4), .silent(8, 5), .silent(9, 6), .stopped(),
            ],
            [
                "resolve example.org", "attempt 192.0.2.1", "sending", "leave", "resolve example.org",
                "attempt 192.0.2.1", "sending", "leave", "end connection-silent",
            ]),
        Course(
            "another one is given up later",
            { ($0.method, $0.timeouts) = ("POST", TransferTimeouts(idle: .seconds(60))) },
            [.begin, server, .sendingOnUsed, .silent(3, 4), .silent(4, 5), .silent(5, 6), .stopped()],
            ["resolve example.org", "attempt 192.0.2.1", "sending", "leave", "end connection-silent"]),
        Course(
            "a connection on which something is heard is not asked about again",
            { $0.timeouts = TransferTimeouts(idle: .seconds(60)) },
            [.begin, server, .sendingOnUsed, .clock(3), .silent(4, 9), .sending, .ended(received: 0)],
            ["resolve example.org", "attempt 192.0.2.1", "sending", "end 200 sent 0 of 0 got 0"]),
        Course(
            "nobody asks about a new connection", { $0.timeouts = TransferTimeouts(idle: .seconds(60)) },
            [.begin, server, .sending, .silent(3, 9), .ended(received: 0)],
            ["resolve example.org", "attempt 192.0.2.1", "sending", "end 200 sent 0 of 0 got 0"]),
    ]

    private static let courses = plain + failures + times + redirects + files + silences

    private static func url(_ text: String) -> TransferURL {
        guard let url = try? TransferURL(text) else { preconditionFailure("\(text) is no URL") }
        return url
    }

    private static func file(memory: Int = 0, resume: UInt64? = nil) -> TransferSink {
        var sink = FileSink(path: "f", resume: resume.map { ResumePoint(offset: $0, entityTag: "\"one\"") })
        sink.memoryBytes = memory
        return .file(sink)
    }

    private static func request(_ change: (inout TransferRequest) -> Void) -> TransferRequest {
        var request = TransferRequest(url: url("http://example.org/"))
        request.timeouts = TransferTimeouts(
            connect: .seconds(12), total: .seconds(30), idle: .seconds(5), idleBytes: 100)
        change(&request)
        return request
    }

    @Test(arguments: courses)
    func `events lead to actions in order`(course: Course) {
        var script = MachineScript(Self.request(course.request))
        for step in course.steps { script.apply(step) }
        #expect(script.actions == course.actions)
        #expect(script.isOver)
    }

    @Test(arguments: courses)
    func `after a cancellation at any place nothing happens, and no timer is left`(course: Course) {
        for place in 0...course.steps.count {
            var script = MachineScript(Self.request(course.request))
            for step in course.steps.prefix(place) { script.apply(step) }
            script.machine.cancel()
            let before = script.actions
            for step in course.steps.dropFirst(place) + course.steps { script.apply(step) }
            #expect(script.actions == before)
            #expect(script.machine.deadline == nil)
        }
    }

    @Test(arguments: courses)
    func `a handler may cancel in any of its calls`(course: Course) {
        let calls = course.actions.filter { MachineScript.isCall($0) }.count
        for call in 0..<calls {
            var script = MachineScript(Self.request(course.request))
            script.cancelsInCall = call
            for step in course.steps { script.apply(step) }
            #expect(script.actions.filter { MachineScript.isCall($0) }.count == call + 1)
            #expect(script.machine.hasEnded && script.machine.deadline == nil)
        }
    }

    @Test func `an address that is connected, and not ready yet, has its share of the time`() {
        var script = MachineScript(Self.request { _ in })
        for step in [.begin, Self.server] as [MachineScript.Step] { script.apply(step) }
        let early = BootTime(nanoseconds: 250_000_000)
        let action = script.machine.deadlineReached(AttemptCounts(), isConnected: true, at: early)
        #expect(action == nil)
        // A third of the 11.75 s that are left.
        let share = early + .nanoseconds(11_750_000_000 / 3)
        #expect(script.machine.deadline == share)
        guard case .attempt? = script.machine.deadlineReached(AttemptCounts(), isConnected: true, at: share) else {
            Issue.record("the next address is tried after that")
            return
        }
    }

    @Test func `the sink that the handler names in its call is the one that is opened`() {
        var script = MachineScript(Self.request { _ in })
        script.sinkAtHead = .file(FileSink(path: "f"))
        for step in [.begin, Self.server, .sending, .head(200), .body(4)] as [MachineScript.Step] { script.apply(step) }
        #expect(script.actions.suffix(2) == ["file keep 0 first 0", "write 4"])
    }

    @Test func `each hop has its own phases, and a limit to connect of its own`() throws {
        var script = MachineScript(Self.request { $0.redirects = .follow(limit: 1) })
        for step in [
            .begin, .clock(1), Self.server, .clock(2), .sending, .clock(3), .redirect(to: "/a"), .decided(true),
        ] as [MachineScript.Step] { script.apply(step) }
        #expect(script.machine.deadline == BootTime(nanoseconds: 15_000_000_000))
        for step in [.clock(4), Self.server, .clock(5), .sending, .clock(6), .ended(received: 0)]
            as [MachineScript.Step]
        {
            script.apply(step)
        }
        let hops = try #require(script.report?.hops)
        #expect(hops.map { $0.phases.started.nanoseconds / 1_000_000_000 } == [0, 3])
        #expect(hops.map { $0.phases.resolved.map { $0.nanoseconds / 1_000_000_000 } } == [1, 4])
        #expect(hops.map { $0.phases.requestStarted.map { $0.nanoseconds / 1_000_000_000 } } == [2, 5])
        #expect(hops.map { $0.phases.finished.map { $0.nanoseconds / 1_000_000_000 } } == [3, 6])
        // Each took a second to connect, so that a second address was tried, too.
        #expect(hops.map(\.attempts) == [2, 2])
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `whatever happens, the handler is called in order, once at the end, and no timer is left`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            var script = MachineScript(Self.randomRequest(using: &random))
            for _ in 0..<40 { script.applyRandom(using: &random) }
            // A timeout ends what no answer ends.
            for step in 1...8 where !script.isOver {
                script.answer()
                script.apply(.clock(1000 * Double(step)))
            }
            script.check()
        }
    }

    private static func randomRequest(using random: inout SeededGenerator) -> TransferRequest {
        request { request in
            if Bool.random(using: &random) { request.url = url("https://example.org/") }
            if Bool.random(using: &random) { request.redirects = .follow(limit: 2) }
            if Bool.random(using: &random) { (request.method, request.body) = ("PUT", .file(path: "f")) }
            request.sink =
                [.memory, .events, .none, file(), file(memory: 3), file(resume: 7)].randomElement(using: &random)
                ?? .memory
        }
    }
}
