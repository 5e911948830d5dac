internal import CCurl
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// One libcurl handle on its way to one address: what its callbacks need, and the notes that they take.
///
/// ``CurlMulti`` keeps it for as long as libcurl has the handle.
final class Attempt {
    /// What is told about a response while it comes in, in order.
    enum News {
        case head(ResponseHead)
        case body([UInt8])
    }

    let handle: EasyHandle
    private let handles: HandlePool
    let plan: AttemptPlan
    /// Set while that has it.
    unowned(unsafe) var multi: CurlMulti?
    /// Set until the job is done with it.
    var job: TransferJob?
    /// The hop's; this attempt's moments are added.
    var phases: TransferPhases
    var evidence = TransferEvidence()
    var certificate: PeerCertificate?
    var remoteAddress: IPAddress?
    var localAddress: IPAddress?
    var isReused = true
    /// Of its own connection; -1 where it uses one that was there.
    var socket: CInt = -1

    let upload: (any UploadSource)?
    var sentBytes: UInt64 = 0
    var reader: ResponseReader
    /// The body was cut at the limit, and that is enough.
    var isCut = false
    /// Bytes of anything, both ways: the idle timeout looks whether it grows.
    var movedBytes: UInt64 = 0

    /// What came since it was last looked at.
    var news: [News] = []
    var hasNews = false
    /// Whoever takes the body has no room: libcurl holds it back until ``CurlMulti/resume(_:)``.
    var isPaused = false
    /// What it may read in this turn of the loop.
    var budget = TurnBudget()
    /// It has read enough for now: libcurl holds back the rest until ``CurlMulti`` lets it go on.
    var isHeldBack = false
    /// The connection is closed with the end of this exchange.
    private(set) var isDistrusted = false
    /// libcurl ended it without a failure: another one may have its handle.
    var endedWell = false

    init?(plan: AttemptPlan, phases: TransferPhases, upload: (any UploadSource)?, handles: HandlePool) {
        guard let handle = handles.take() else { return nil }
        self.handle = handle
        self.handles = handles
        self.plan = plan
        self.phases = phases
        self.upload = upload
        reader = ResponseReader(
            method: plan.request.method, limit: plan.request.limit, followsRedirects: plan.followsRedirects,
            resume: plan.resume, checksRange: !plan.request.hasOwnRange)
        handle.clearError()
        handle.attempt = self
    }

    deinit {
        handle.attempt = nil
        // One that only connected keeps its connection until it is used for something else.
        if endedWell, plan.request.connection != .connectOnly { handles.put(handle) }
    }

    var easy: UnsafeMutableRawPointer { handle.raw }

    func noteConnected() {
        if phases.connected == nil { phases.connected = SystemClock.boot }
    }

    /// Ends the attempt from a callback.
    func refuse(_ failure: TransferFailure) {
        if evidence.refusal == nil { evidence.refusal = failure }
    }

    func add(_ item: News) {
        news.append(item)
        multi?.note(self)
    }

    /// Adds a piece of the body, to the piece before it where there is one: they may be small, and many.
    func add(body bytes: UnsafeRawBufferPointer) {
        guard case .body(var piece)? = news.last else { return add(.body(Array(bytes))) }
        news.removeLast()
        piece.append(contentsOf: bytes)
        news.append(.body(piece))
    }

    /// Where this answer ends and the next begins is in doubt: nothing else is ever asked over the connection.
    func distrustConnection() {
        guard !isDistrusted else { return }
        isDistrusted = true
        // libcurl looks at it when the exchange is over. The next attempt tells the handle all again.
        _ = reach_curl_set_long(easy, CURLOPT_FORBID_REUSE, 1)
        handle.settings = nil
    }

    /// Has libcurl say what it reads after the head, and what it leaves unread.
    func watchBytes() {
        guard !handle.isVerbose else { return }
        handle.isVerbose = true
        _ = reach_curl_set_long(easy, CURLOPT_VERBOSE, 1)
    }

    var counts: AttemptCounts {
        AttemptCounts(sent: sentBytes, received: reader.bodyBytes, moved: movedBytes, isPaused: isPaused)
    }

    /// What is known of it now, without a failure of libcurl's.
    var result: AttemptResult {
        var result = AttemptResult(phases: phases)
        result.counts = counts
        result.status = reader.response?.status
        (result.remoteAddress, result.localAddress) = (remoteAddress, localAddress)
        result.isReused = isReused
        result.certificate = certificate
        result.isCut = isCut
        result.response = reader.response
        result.redirect = reader.redirect
        return result
    }

    /// Reads what libcurl knows at the end, before the handle leaves its multi handle.
    func readInformation() {
        var number = 0
        if reach_curl_get_long(easy, CURLINFO_OS_ERRNO, &number) == CURLE_OK { evidence.systemError = CInt(number) }
        evidence.text = handle.errorText
        evidence.isRequestStarted = phases.requestStarted != nil
        evidence.isReadingHead = phases.requestStarted != nil && reader.response == nil
    }
}
