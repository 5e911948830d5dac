internal import CCurl
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// One attempt to send a request to one address, by one libcurl handle: the data that libcurl's callbacks need and set.
///
/// ``CurlMulti`` keeps it for as long as libcurl has the handle.
final class Attempt {
    /// A part of a response, in the order of arrival.
    enum Part {
        case head(ResponseHead)
        case body([UInt8])
    }

    let handle: EasyHandle
    private let handles: HandlePool
    let plan: AttemptPlan
    /// Set while libcurl has the handle.
    unowned(unsafe) var multi: CurlMulti?
    /// Set until the job has finished with the attempt.
    var job: TransferJob?
    /// What it found so far; ``result`` is whole. The phases are the hop's, to which this attempt adds its own, and the
    /// bytes of HTTP are counted at its end.
    var found: AttemptResult
    var evidence = TransferEvidence()
    /// The socket of the connection that it opened; -1 if it reuses one.
    var socket: CInt = -1

    let upload: (any UploadSource)?
    var sentBytes: UInt64 = 0
    /// Whether libcurl has seen the end of the body.
    var hasReadBody = false
    var reader: ResponseReader
    /// All bytes sent and received; the idle timeout checks that the number grows.
    var movedBytes: UInt64 = 0

    /// The socket of the connection that its request goes by; `nil` before, and where it is not known.
    var connection: CInt?
    /// The connection of ``connection``, or that it opens; `nil` from when libcurl repeats the request until it has
    /// another one.
    var connectionID: CurlMulti.ConnectionID?
    /// The connection's bytes, when those of an unfinished line were counted last.
    var countedBytes: UInt64 = 0

    /// The parts received since the job last read them.
    var parts: [Part] = []
    /// Whether the multi handle will report to the job when libcurl has returned.
    var isNoted = false
    /// Whether libcurl waits for ``CurlMulti/resume(_:)``: the writer has no room, or there are no bytes to send yet.
    var isPaused = false
    /// What the server said of its stream.
    var stream = StreamFate()
    /// Reads a proxy's answer to CONNECT.
    var proxyReader: ResponseReader?
    /// Limits what its connection receives below TLS; `nil` without TLS.
    var gate: ReceiveGate?
    /// Limits how much it reads in this turn of the loop.
    var budget = TurnBudget()
    /// Whether it has read enough for now: libcurl waits until ``CurlMulti`` resumes it.
    var isHeldBack = false
    /// Decodes its body; `nil` if that is passed on as it comes.
    var decoder: ContentDecoder?
    /// Whether libcurl has reported its end, while a part of its body was not decoded yet.
    var isReceived = false
    /// Whether the connection is closed after this exchange.
    private(set) var isDistrusted = false
    /// Whether libcurl ended it without a failure: another attempt may then use its handle.
    var endedWell = false

    init?(plan: AttemptPlan, phases: TransferPhases, upload: (any UploadSource)?, handles: HandlePool) {
        guard let handle = handles.obtain() else { return nil }
        self.handle = handle
        self.handles = handles
        found = AttemptResult(phases: phases)
        found.isReused = true
        self.upload = upload
        reader = ResponseReader(
            method: plan.request.method, limit: plan.request.limit, followsRedirects: plan.followsRedirects,
            leavesRedirects: plan.request.leavesRedirects,
            resume: plan.resume, checksRange: !plan.request.hasOwnRange)
        self.plan = plan
        handle.clearError()
        handle.attempt = self
    }

    deinit {
        handle.attempt = nil
        // After CURLOPT_CONNECT_ONLY a handle keeps its connection until it is reused.
        if endedWell, plan.request.connection != .connectOnly { handles.recycle(handle) }
    }

    var easy: UnsafeMutableRawPointer { handle.raw }

    /// Whether libcurl has the whole body, or there is none.
    var hasSentBody: Bool {
        guard let upload else { return true }
        return upload.length.map { sentBytes >= $0 } ?? hasReadBody
    }

    func noteConnected() {
        if found.phases.connected == nil { found.phases.connected = SystemClock.boot }
    }

    /// Ends the attempt, whose response is hardly anything but framing.
    func failForFraming() {
        let host = plan.request.url.host
        job?.fail(TransferFailure(.badResponse, "\(host): hardly anything but framing", curlCode: 56))
    }

    /// Ends the attempt from a callback.
    func refuse(_ failure: TransferFailure) {
        if evidence.refusal == nil { evidence.refusal = failure }
    }

    func add(_ part: Part) {
        parts.append(part)
        multi?.note(self)
    }

    /// Adds a piece of the body, and joins it to the one before: pieces may be small and many.
    func add(body bytes: UnsafeRawBufferPointer) {
        guard case .body(var piece)? = parts.last else { return add(.body(Array(bytes))) }
        parts.removeLast()
        piece.append(contentsOf: bytes)
        parts.append(.body(piece))
    }

    /// Has the connection closed after this exchange: where the response ends is ambiguous, so that the next one could
    /// be misread.
    func distrustConnection() {
        guard !isDistrusted else { return }
        isDistrusted = true
        // libcurl reads the option when the exchange is over. The next attempt sets all options again.
        _ = reach_curl_set_long(easy, CURLOPT_FORBID_REUSE, 1)
        handle.settings = nil
    }

    /// Turns on libcurl's debug output, which shows the bytes that it reads after the head and those that it drops.
    func watchBytes() {
        guard !handle.isVerbose else { return }
        handle.isVerbose = true
        _ = reach_curl_set_long(easy, CURLOPT_VERBOSE, 1)
    }

    var counts: AttemptCounts {
        AttemptCounts(
            sent: sentBytes, received: reader.bodyBytes, moved: movedBytes, isPaused: isPaused,
            isRedirect: reader.isFollowed)
    }

    /// The attempt's result so far; libcurl's failure is left to the caller.
    var result: AttemptResult {
        var result = found
        result.counts = counts
        let response = reader.response
        result.status = response?.status
        result.isUnprocessed = isUnprocessed
        result.redirect = response == nil ? nil : reader.redirect
        result.response = response
        return result
    }

    /// Reads libcurl's counts of heads and encoded bodies, before the handle leaves its multi handle.
    func readWireBytes() {
        func number(_ information: CURLINFO) -> UInt64 {
            var number = 0
            return reach_curl_get_long(easy, information, &number) == CURLE_OK ? UInt64(max(0, number)) : 0
        }
        found.wire.sent = number(CURLINFO_REQUEST_SIZE) + number(CURLINFO_SIZE_UPLOAD_T)
        found.wire.received = number(CURLINFO_HEADER_SIZE) + number(CURLINFO_SIZE_DOWNLOAD_T)
    }

    /// Reads libcurl's information about a failure, before the handle leaves its multi handle.
    func readInformation() {
        var number = 0
        if reach_curl_get_long(easy, CURLINFO_OS_ERRNO, &number) == CURLE_OK { evidence.systemError = CInt(number) }
        evidence.text = handle.errorText
        readProxy()
        evidence.isRequestStarted = found.phases.requestStarted != nil
        evidence.isReadingHead = found.phases.requestStarted != nil && reader.response == nil
    }
}

extension Attempt {
    private func readProxy() {
        guard let proxy = plan.request.proxy.url else { return }
        let host = proxy.address?.family == .ipv6 ? "[\(proxy.host)]" : proxy.host
        var facts = ProxyEvidence(
            name: "\(host):\(proxy.port)", isTunnel: plan.request.url.isSecure || proxy.scheme != "http")
        var number = 0
        if reach_curl_get_long(easy, CURLINFO_HTTP_CONNECTCODE, &number) == CURLE_OK { facts.status = number }
        if reach_curl_get_long(easy, CURLINFO_PROXY_ERROR, &number) == CURLE_OK {
            facts.fault = UInt32(clamping: number)
        }
        evidence.proxy = facts
    }
}

/// The request of one hop, to one address.
struct AttemptPlan {
    /// The request, with the method, URL, headers and body of this hop.
    var request: TransferRequest
    /// The address of the URL's host, or of the proxy; libcurl never looks one up.
    var address: IPAddress
    /// The address of the URL's host that the proxy connects to; `nil` where it gets the host.
    var target: IPAddress?
    var followsRedirects = false
    /// Whether an open connection is left alone (``TransferMachine/needsNewConnection``).
    var needsNewConnection = false
    /// Where the download resumes (``TransferSink/file(_:)``).
    var resume: ResumePoint?
    /// The certificates to trust; only for https.
    var trust: TrustStore?

    /// Whether libcurl may send it again where its connection, used before, ended before the answer.
    var mayArriveTwice: Bool { request.mayArriveTwice }

    /// Whether an open connection may be used. Where that turns out to be dead, it may not be known whether the request
    /// arrived, so what has no key gets a new one. So does a request whose body may be gone once it was read.
    var mayReuse: Bool {
        if case .arriving = request.body { return false }
        return request.connection == .pooled && !needsNewConnection && !request.bindsConnection && !request.isSentOnce
            && (RepeatableMethods.contains(request.method)
                || request.headers.contains { $0.isNamed("Idempotency-Key") })
    }
}
