internal import FoundationEssentials
internal import HTTPTypes
internal import ReachCore
internal import ReachLoop
internal import ReachSerialization
internal import ReachTransfer

/// Makes the transfers of a session by asking its ``StubTransport``. Confined to the loop.
final class StubTransfers: TransferMaker {
    private final class Running {
        var request: TransferRequest
        let handler: TransferHandler
        var head: ResponseHead?
        /// Pieces that wait for room.
        var waiting: ArraySlice<[UInt8]> = []
        var body: [UInt8] = []
        var progress = ByteProgress()
        var phases = TransferPhases(started: SystemClock.boot)
        var end: Result<Void, TransferFailure>?
        var work: Task<Void, Never>?

        init(_ request: TransferRequest, _ handler: TransferHandler) {
            self.request = request
            self.handler = handler
        }
    }

    private let transport: StubTransport
    private let loop: EventLoop
    private var running: [TransferID: Running] = [:]
    private var lastID: UInt64 = 0
    private let loopReference = LoopReference<StubTransfers>()

    init(_ transport: StubTransport, on loop: EventLoop) {
        self.transport = transport
        self.loop = loop
        loopReference.owner = self
    }

    deinit {
        loopReference.owner = nil
        running.values.forEach { $0.work?.cancel() }
    }

    var runningCount: Int { running.count }

    func start(_ request: TransferRequest, handler: TransferHandler) -> TransferID {
        lastID += 1
        let id = TransferID(rawValue: lastID)
        let attempt = Running(request, handler)
        running[id] = attempt
        let report: @Sendable (Event) -> Void = { [loopReference, mailbox = loop.mailbox] event in
            mailbox.post { _ in loopReference.owner?.handle(event, of: id) }
        }
        attempt.work = Self.task(request, transport, report)
        return id
    }

    func cancel(_ id: TransferID) { running.removeValue(forKey: id)?.work?.cancel() }

    func use(_ sink: FileSink, for id: TransferID) { running[id]?.request.sink = .file(sink) }

    func resume(_ id: TransferID) { flush(id) }

    func newEpoch() {}

    func resumePoint(record: String, of file: String, reply: @escaping (ResumePoint?) -> Void) {
        loop.afterEvents { reply(nil) }
    }

    // MARK: - Playing a response

    private enum Event: Sendable {
        case sent(Int64?)
        case head(ResponseHead)
        case piece([UInt8])
        case end(Result<Void, TransferFailure>)
    }

    private static func task(
        _ request: TransferRequest, _ transport: StubTransport, _ report: @escaping @Sendable (Event) -> Void
    ) -> Task<Void, Never> {
        Task { await play(request, transport, report) }
    }

    /// Asks for the answer, and reports it as it is to arrive.
    private static func play(
        _ request: TransferRequest, _ transport: StubTransport, _ report: @Sendable (Event) -> Void
    ) async {
        do {
            let sent = try await WebRequest(request)
            transport.note(sent)
            try await play(try await transport.answer(sent), sent.contentLength, report)
        } catch is CancellationError {
            // The queue ended the attempt, and wants no report.
        } catch {
            report(.end(.failure(TransferFailure(.badRequest, DisplayText.sanitized("\(error)")))))
        }
    }

    private static func play(
        _ response: StubResponse, _ bodyLength: Int64?, _ report: @Sendable (Event) -> Void
    ) async throws {
        let isSent = response.failure?.isAfterSending ?? true || !response.pieces.isEmpty
        if isSent { report(.sent(bodyLength)) }
        if response.delay > .zero { try await Task.sleep(for: response.delay) }
        if response.failure == nil || !response.pieces.isEmpty { report(.head(ResponseHead(response))) }
        for (index, piece) in response.pieces.enumerated() {
            if index > 0, response.interval > .zero { try await Task.sleep(for: response.interval) }
            report(.piece(piece))
        }
        let failure = response.failure.flatMap { TransferFailure.Reason(rawValue: $0.rawValue) }
        report(.end(failure.map { .failure(TransferFailure($0, "the stub fails: \($0.rawValue)")) } ?? .success(())))
    }

    private func handle(_ event: Event, of id: TransferID) {
        guard let attempt = running[id] else { return }
        switch event {
        case .sent(let count):
            attempt.phases.requestStarted = SystemClock.boot
            attempt.progress.toSend = count
            attempt.progress.sent = count ?? 0
            attempt.handler.willSend()
            if count != nil { attempt.handler.event(.progress(attempt.progress)) }
        case .head(let head):
            attempt.head = head
            attempt.phases.firstByte = SystemClock.boot
            attempt.progress.toReceive = head.contentLength.map { Int64(clamping: $0) }
            attempt.handler.event(.head(head))
        case .piece(let bytes):
            attempt.waiting.append(bytes)
            flush(id)
        case .end(let end):
            attempt.end = end
            flush(id)
        }
    }

    private func flush(_ id: TransferID) {
        while let attempt = running[id], !attempt.waiting.isEmpty, attempt.handler.hasRoom() {
            let bytes = attempt.waiting.removeFirst()
            attempt.progress.received += Int64(bytes.count)
            if attempt.request.sink == .events {
                attempt.handler.event(.body(bytes))
            } else {
                attempt.body += bytes
            }
            attempt.handler.event(.progress(attempt.progress))
        }
        guard let attempt = running[id], attempt.waiting.isEmpty, let end = attempt.end else { return }
        running[id] = nil
        attempt.handler.event(.finished(Self.report(attempt, end)))
    }

    private static func report(_ attempt: Running, _ end: Result<Void, TransferFailure>) -> TransferReport {
        attempt.phases.finished = SystemClock.boot
        var hop = TransferHop(url: attempt.request.url, method: attempt.request.method, phases: attempt.phases)
        hop.status = attempt.head?.status
        hop.attempts = 1
        var report = TransferReport(outcome: end.map { attempt.head }, hops: [hop])
        report.sentBytes = UInt64(clamping: attempt.progress.sent)
        report.receivedBytes = UInt64(clamping: attempt.progress.received)
        report.body = attempt.body
        if UInt64(attempt.body.count) > attempt.request.limit.bodyBytes {
            report.outcome = .failure(TransferFailure(.responseTooLarge, "the answer is larger than the limit"))
            report.body = []
        }
        guard case .file(let sink) = attempt.request.sink, report.failure == nil,
            attempt.body.count > sink.memoryBytes || sink.memoryBytes == 0,
            sink.memoryBytes > 0 || [200, 206].contains(attempt.head?.status)
        else { return report }
        report.body = []
        do {
            try Data(attempt.body).write(to: URL(filePath: sink.path))
            report.fileBytes = UInt64(attempt.body.count)
        } catch {
            report.outcome = .failure(TransferFailure(.fileFailed, "\(sink.path): \(error)"))
        }
        return report
    }
}

extension ResponseHead {
    fileprivate init(_ response: StubResponse) {
        var fields = response.headers.sorted { $0.key < $1.key }.map { HeaderField($0.key, $0.value) }
        let count = response.pieces.count == 1 && response.failure == nil ? response.pieces[0].count : nil
        if let count, !fields.contains(where: { $0.isNamed("Content-Length") }) {
            fields.append(HeaderField("Content-Length", "\(count)"))
        }
        self.init(
            status: response.statusCode, version: "HTTP/1.1", fields: fields, contentLength: count.map(UInt64.init))
    }
}

extension WebRequest {
    /// The request of an attempt, with its whole body as bytes. Reads files, so it must not run on a loop.
    fileprivate init(_ transfer: TransferRequest) async throws {
        try self.init(
            method: transfer.method, url: WebAddress(received: transfer.url.description),
            headers: HTTPFields(transfer.headers))
        switch transfer.body {
        case .none: body = .none
        case .bytes(let bytes): body = .bytes(bytes)
        case .file(let path): body = .bytes(Array(try Data(contentsOf: URL(filePath: path))))
        case .stream(let stream): body = .bytes(try stream.bytes())
        case .arriving(let arriving): body = .bytes(try await arriving.open().bytes())
        }
    }
}

extension StreamedBody {
    fileprivate func bytes() throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(count))
        let read = try open()
        var filled = 0
        try bytes.withUnsafeMutableBytes { buffer in
            while filled < buffer.count {
                let count = try read(UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
                if count <= 0 { return }
                filled += count
            }
        }
        return Array(bytes.prefix(filled))
    }
}
