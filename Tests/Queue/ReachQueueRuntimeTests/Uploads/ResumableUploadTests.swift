import ReachCore
import ReachQueue
import ReachTransfer
import Testing

@testable import ReachQueueRuntime

/// What follows from each answer of a server, by a table.
@Suite struct ResumableUploadTests {
    private typealias Answer = (status: Int, fields: [String: String])

    private static let size: UInt64 = 1_000_000

    private static func head(_ answer: Answer) -> ResponseHead {
        ResponseHead(
            status: answer.status, version: "HTTP/1.1",
            fields: answer.fields.map { HeaderField($0.key, $0.value) })
    }

    /// The steps of an attempt that gets these answers, in words.
    private func steps(
        _ answers: [Answer], known: UploadState? = nil, isCreation: Bool = true, size: UInt64 = size
    ) throws -> (steps: [String], state: UploadState) {
        let target = try TransferURL("https://a.example/files")
        var upload = ResumableUpload(known, of: BodyIdentity(bytes: size), to: target, isCreation: isCreation)
        var decision = upload.begin()
        var steps = [Self.word(decision)]
        for answer in answers {
            guard case .next = decision else { break }
            decision = upload.handle(Self.head(answer))
            steps.append(Self.word(decision))
        }
        return (steps, upload.state)
    }

    private static func word(_ decision: ResumableUpload.Decision) -> String {
        switch decision {
        case .next(.create): "create"
        case .next(.ask): "ask"
        case .next(.send(let range)): "send \(range.lowerBound) to \(range.upperBound)"
        case .complete: "complete"
        case .answered: "answered"
        case .refused: "refused"
        case .failed(let fault): "failed \(fault.kind.rawValue)\(fault.isAnswered ? " answered" : "")"
        }
    }

    private func known(_ offset: UInt64 = 400_000, bytes: UInt64 = size) throws -> UploadState {
        var state = UploadState(body: BodyIdentity(bytes: bytes))
        (state.url, state.offset, state.highest) = (try TransferURL("https://a.example/files/1"), offset, offset)
        return state
    }

    @Test func `a new upload is made, then sent, and is complete at its length`() throws {
        let made: Answer = (201, ["Location": "/files/1"])
        for (answers, wanted) in [
            ([made, (204, ["Upload-Offset": "1000000"])], ["send 0 to 1000000", "complete"]),
            ([made, (200, ["upload-offset": "400000"])], ["send 0 to 1000000", "send 400000 to 1000000"]),
            (
                [made] + (1...4).map { (204, ["Upload-Offset": "\($0)"]) },
                (0...3).map { "send \($0) to 1000000" } + ["failed transient answered"]
            ),
            // What it says about offsets makes no sense: it is asked.
            ([made, (204, [:]), (200, ["Upload-Offset": "7"])], ["send 0 to 1000000", "ask", "send 7 to 1000000"]),
            ([made, (204, ["Upload-Offset": "2000000"])], ["send 0 to 1000000", "ask"]),
            ([made, (204, ["Upload-Offset": "-1"])], ["send 0 to 1000000", "ask"]),
            ([made, (204, ["Upload-Offset": "0"])], ["send 0 to 1000000", "ask"]),
            ([made, (409, [:]), (200, ["Upload-Offset": "1000000"])], ["send 0 to 1000000", "ask", "complete"]),
            ([made, (404, [:])], ["send 0 to 1000000", "failed transient answered"]),
            ([made, (423, [:])], ["send 0 to 1000000", "failed transient answered"]),
            ([made, (413, [:])], ["send 0 to 1000000", "answered"]),
            ([made, (503, [:])], ["send 0 to 1000000", "answered"]),
            // It speaks another protocol, and took the empty POST for the request.
            ([(200, [:])], ["refused"]), ([(201, [:])], ["refused"]), ([(204, ["Location": "/files/1"])], ["refused"]),
            ([(404, [:])], ["answered"]), ([(401, [:])], ["answered"]),
            ([(201, ["Location": "https://b.example/files/1"])], ["failed redirects"]),
            ([(201, ["Location": "http://a.example/files/1"])], ["failed redirects"]),
            ([(201, ["Location": "https://a.example:444/files/1"])], ["failed redirects"]),
            ([(201, ["Location": "file:///etc/passwd"])], ["failed redirects"]),
            ([(201, ["Location": "//a.example/1"])], ["send 0 to 1000000"]),
            // Credentials are kept in headers, and a URL is shown.
            ([(201, ["Location": "https://u:p@a.example/1"])], ["refused"]),
            // It would be kept for as long as the upload lasts, and counts towards no limit.
            ([(201, ["Location": "/" + String(repeating: "x", count: 4096)])], ["refused"]),
        ] as [([Answer], [String])] {
            #expect(try steps(answers).steps == ["create"] + wanted, "\(answers)")
        }
    }

    @Test func `an upload that was begun is asked about, and continues where the server says`() throws {
        for (answers, wanted) in [
            ([(200, ["Upload-Offset": "500000", "Upload-Length": "1000000"])], ["send 500000 to 1000000"]),
            ([(204, ["Upload-Offset": "1000000"])], ["complete"]),
            // It has lost bytes that it acknowledged: its word counts.
            ([(200, ["Upload-Offset": "5"])], ["send 5 to 1000000"]),
            // It has lost the upload, or this is another one.
            ([(404, [:]), (201, ["Location": "2"])], ["create", "send 0 to 1000000"]),
            ([(410, [:])], ["create"]), ([(200, ["Tus-Resumable": "1.0.0"])], ["create"]),
            // A portal or a proxy answers in its place.
            ([(200, [:])], ["failed transient"]), ([(204, [:])], ["failed transient"]),
            ([(200, ["Upload-Offset": "1000001"])], ["create"]),
            ([(200, ["Upload-Offset": "5", "Upload-Length": "6"])], ["create"]),
            // Only once in an attempt.
            (
                [(404, [:]), (201, ["Location": "2"]), (409, [:]), (404, [:])],
                ["create", "send 0 to 1000000", "ask", "failed transient answered"]
            ),
            ([(423, [:])], ["failed transient answered"]), ([(503, [:])], ["answered"]), ([(403, [:])], ["answered"]),
            // It says one thing and does another: no endless loop.
            (
                [(200, ["Upload-Offset": "5"]), (409, [:]), (200, ["Upload-Offset": "5"]), (409, [:])],
                ["send 5 to 1000000", "ask", "send 5 to 1000000", "failed transient answered"]
            ),
        ] as [([Answer], [String])] {
            #expect(try steps(answers, known: try known()).steps == ["ask"] + wanted, "\(answers)")
        }
    }

    @Test func `no answers keep an attempt going without an advance`() throws {
        for answers in [
            // A byte more, or back and forth, whenever it is asked, and whatever is sent is refused.
            { (round: Int) -> Answer in (200, ["Upload-Offset": "\(round)"]) },
            { (round: Int) -> Answer in (200, ["Upload-Offset": round.isMultiple(of: 2) ? "0" : "999999"]) },
            { (round: Int) -> Answer in (200, ["Upload-Offset": "\(round.isMultiple(of: 2) ? round : 500_000)"]) },
        ] {
            let all = (0..<40).flatMap { [answers($0), (status: 409, fields: [:])] }
            let steps = try steps(all, known: try known(0)).steps
            #expect(steps.count < 12 && steps.last == "failed transient answered", "\(steps)")
        }
        // Each advance counts, also where the answers to what was sent do not tell it.
        let honest = (0...10).flatMap { [(200, ["Upload-Offset": "\($0 * 100_000)"]), (204, [:])] } as [Answer]
        #expect(try steps(honest, known: try known(0)).steps.last == "complete")
    }

    /// A server that keeps what it gets, and answers as servers, proxies and their faults do.
    private struct Model {
        var random: SplitMix64
        /// Bytes that it has; `nil` where there is no upload.
        var offset: UInt64?
        var made = 0

        /// - Returns: `nil` for a connection that is cut.
        mutating func answer(_ exchange: ResumableUpload.Exchange, _ size: UInt64) -> Answer? {
            let fault = UInt64.random(in: 0..<24, using: &random)
            if fault == 0 { return nil }
            if fault == 1 { return (503, [:]) }
            if fault == 2 { return (409, [:]) }
            switch exchange {
            case .create:
                (offset, made) = (0, made + 1)
                return fault == 3 ? nil : (201, ["Location": "/files/\(made)"])
            case .ask:
                guard let offset, fault != 4 else { return (404, [:]) }
                return (200, ["Upload-Offset": "\(offset)", "Tus-Resumable": "1.0.0"])
            case .send(let range):
                guard let known = offset else { return (404, [:]) }
                guard known == range.lowerBound else { return (409, [:]) }
                let kept = fault < 8 ? UInt64.random(in: 0...UInt64(range.count), using: &random) : UInt64(range.count)
                offset = fault == 5 ? nil : known + kept
                if fault == 6 { return nil }
                return (204, fault == 7 ? [:] : ["Upload-Offset": "\(known + kept)"])
            }
        }
    }

    @Test func `whatever fails, an upload is complete only with all bytes, and no attempt is endless`() throws {
        let target = try TransferURL("https://a.example/files")
        for seed in 0..<500 as Range<UInt64> {
            var model = Model(random: SplitMix64(seed: seed))
            let size = UInt64.random(in: 0...3 << 20, using: &model.random)
            var state: UploadState?
            var isComplete = false
            for attempt in 0..<200 where !isComplete {
                var upload = ResumableUpload(state, of: BodyIdentity(bytes: size), to: target, isCreation: true)
                var decision = upload.begin()
                var exchanges = 0
                while case .next(let exchange) = decision {
                    exchanges += 1
                    try #require(exchanges < 120, "\(seed)")
                    if case .send(let range) = exchange { try #require(range.upperBound <= size && !range.isEmpty) }
                    guard let answer = model.answer(exchange, size) else {
                        upload.cutOff(after: UInt64.random(in: 0...size, using: &model.random))
                        break
                    }
                    decision = upload.handle(Self.head(answer))
                }
                isComplete = decision == .complete
                state = upload.state
                try #require(attempt < 199, "\(seed)")
            }
            #expect(isComplete && model.offset == size, "\(seed)")
        }
    }

    @Test func `parts grow while they arrive, so one cut does not make an upload slow`() throws {
        var state = try known(0)
        (state.body.bytes, state.cutOffAfter) = (100 << 20, 512 << 10)
        let part = 256 << 10
        let answers = [(200, ["Upload-Offset": "0"])] + [1, 3, 6].map { (204, ["Upload-Offset": "\($0 * part)"]) }
        #expect(
            try steps(answers as [Answer], known: state, size: 100 << 20).steps == [
                "ask", "send 0 to \(part)", "send \(part) to \(3 * part)", "send \(3 * part) to \(6 * part)",
                "send \(6 * part) to \(10 * part)",
            ])
    }

    @Test func `an upload that the URL names is never made again`() throws {
        for (answers, wanted) in [
            ([(200, ["Upload-Offset": "5"])], ["send 5 to 1000000"]), ([(404, [:])], ["refused"]),
            ([(200, [:])], ["refused"]),
            ([(200, ["Upload-Offset": "5"]), (410, [:])], ["send 5 to 1000000", "refused"]),
        ] as [([Answer], [String])] {
            #expect(try steps(answers, isCreation: false).steps == ["ask"] + wanted, "\(answers)")
        }
    }

    @Test func `another body begins another upload, and is not mixed into a given one`() throws {
        let old = try known(400_000, bytes: 999_999)
        #expect(try steps([], known: old).steps == ["create"])
        #expect(try steps([], known: old, isCreation: false).steps == ["failed file"])
        let same = UploadState(body: BodyIdentity(bytes: Self.size, version: "1 2.3"))
        #expect(try steps([], known: same).state.restarts == 1)
    }

    @Test func `a server that keeps whole requests only gets parts that fit between two cuts`() throws {
        var state = try known(0)
        state.body.bytes = 100 << 20
        for (sent, offset, wanted) in [
            (0, 0, "send 0 to 104857600"), (8 << 20, 0, "send 0 to 4194304"),
            // No smaller part is worth a request.
            (300 << 10, 0, "send 0 to 104857600"), (512 << 10, 0, "send 0 to 262144"),
            // It kept a part of it.
            (8 << 20, 5, "send 5 to 104857600"),
        ] as [(UInt64, Int, String)] {
            state.cutOffAfter = sent
            let found = try steps([(200, ["Upload-Offset": "\(offset)"])], known: state, size: 100 << 20)
            #expect(found.steps == ["ask", wanted])
        }
    }

    @Test func `what counts as an advance is more than ever before, and not a byte at a time`() throws {
        let target = try TransferURL("https://a.example/files")
        for (before, offset, wanted) in [
            (400_000, "400000", false), (400_000, "400001", false), (400_000, "465535", false),
            (400_000, "465536", true), (400_000, "1", false), (999_999, "1000000", true),
        ] as [(UInt64, String, Bool)] {
            var upload = ResumableUpload(
                try known(before), of: BodyIdentity(bytes: Self.size), to: target, isCreation: true)
            _ = upload.begin()
            _ = upload.handle(Self.head((200, ["Upload-Offset": offset])))
            let claims = [upload.claimAdvance(), upload.claimAdvance()]
            #expect(claims == [wanted, false], "\(before) to \(offset)")
        }
        // A server that loses an upload again and again makes no progress by it.
        var upload = ResumableUpload(
            try known(), of: BodyIdentity(bytes: Self.size), to: target, isCreation: true)
        _ = upload.begin()
        _ = upload.handle(Self.head((404, [:])))
        _ = upload.handle(Self.head((201, ["Location": "2"])))
        _ = upload.handle(Self.head((204, ["Upload-Offset": "400000"])))
        let isFurther = upload.claimAdvance()
        #expect(!isFurther)
    }

    @Test func `each exchange has the fields that belong to it`() throws {
        var template = TransferRequest("POST", url: try TransferURL("https://a.example/files"))
        template.headers = [
            HeaderField("Authorization", "Bearer x"), HeaderField("Upload-Metadata", "name eA=="),
            HeaderField("Content-Type", "image/png"), HeaderField("Idempotency-Key", "k"),
        ]
        var upload = ResumableUpload(
            try known(), of: BodyIdentity(bytes: Self.size), to: template.url, isCreation: true)
        let create = upload.request(.create, from: template)
        #expect(create.method == "POST" && create.url == template.url)
        #expect(
            create.headers == template.headers + [
                HeaderField("Tus-Resumable", "1.0.0"), HeaderField("Upload-Length", "1000000"),
            ])
        let ask = upload.request(.ask, from: template)
        #expect(ask.method == "HEAD" && ask.url.description == "https://a.example/files/1")
        #expect(ask.headers == [HeaderField("Authorization", "Bearer x"), HeaderField("Tus-Resumable", "1.0.0")])
        let send = upload.request(.send(5..<9), from: template)
        #expect(send.method == "PATCH")
        #expect(
            send.headers == ask.headers + [
                HeaderField("Content-Type", "application/offset+octet-stream"), HeaderField("Upload-Offset", "5"),
            ])
        // A server that knows the key would name the upload that is gone.
        _ = upload.begin()
        _ = upload.handle(Self.head((404, [:])))
        #expect(!upload.request(.create, from: template).headers.contains { $0.isNamed("Idempotency-Key") })
    }

    @Test func `a record is read as it was written, and nothing else is`() throws {
        var state = try known()
        state.restarts = 3
        state.body.version = "17 1795000000.5"
        let text = try #require(state.text)
        #expect(UploadState(text: text) == state)
        #expect(UploadState(body: state.body).text == nil, "there is nothing to resume")
        for position in text.utf8.indices {
            var bytes = Array(text.utf8)
            let place = text.utf8.distance(from: text.utf8.startIndex, to: position)
            #expect(UploadState(text: String(decoding: bytes[..<place], as: UTF8.self)) == nil)
            bytes[place] = bytes[place] == 0x31 ? 0x32 : 0x31
            #expect(UploadState(text: String(decoding: bytes, as: UTF8.self)) == nil, "\(place)")
        }
    }
}
