internal import ReachCore

/// The data for a transfer's report and progress, over all its hops: a value.
struct TransferRecord {
    /// The hops so far; at least one once the transfer has begun.
    var hops: [TransferHop] = []
    /// The response's head, unless it is a redirect to follow.
    var head: ResponseHead?
    /// The response's body, as far as it goes into memory.
    var body: [UInt8] = []
    /// Whether the response's body goes into a file.
    var hasFile = false
    /// Whether the file was written without a failure so far.
    var isFileGood = true
    /// Whether the body was cut at the limit.
    var isCut = false
    /// The length of the request's body; `nil` without one.
    var bodyBytes: UInt64?
    /// The counts of the running attempt, or of the last one.
    var counts = AttemptCounts()
    /// Body bytes of the hops that are over.
    private var sentBefore: UInt64 = 0
    private var receivedBefore: UInt64 = 0
    private var reported = ByteProgress()
    private var reportedAt: BootTime?

    mutating func updateHop(_ change: (inout TransferHop) -> Void) { change(&hops[hops.count - 1]) }

    mutating func beginAttempt() {
        body = []
        head = nil
        counts = AttemptCounts()
        updateHop { $0.attempts += 1 }
    }

    mutating func note(_ result: AttemptResult) {
        counts = result.counts
        isCut = result.isCut
        updateHop { hop in
            hop.phases = result.phases
            hop.status = result.status
            hop.remoteAddress = result.remoteAddress
            hop.localAddress = result.localAddress
            hop.version = result.response?.version
            hop.wire.sent += result.wire.sent
            hop.wire.received += result.wire.received
            hop.reusedConnection = result.isReused && result.phases.requestStarted != nil
            hop.certificate = result.certificate
            if hop.reusedConnection { hop.phases.resolved = nil }
        }
    }

    /// A redirect ended the hop.
    mutating func endHop(at now: BootTime) {
        sentBefore += counts.sent
        receivedBefore += counts.received
        counts = AttemptCounts()
        isCut = false
        updateHop { $0.phases.finished = now }
    }

    var sentBytes: UInt64 { sentBefore + counts.sent }
    var receivedBytes: UInt64 { receivedBefore + counts.received }

    var progress: ByteProgress {
        // Decoded bytes are counted, of which the server announces no number.
        let length = head?["content-encoding"] == nil ? head?.contentLength : nil
        return ByteProgress(
            sent: Int64(clamping: sentBytes), toSend: bodyBytes.map { Int64(clamping: $0) },
            received: Int64(clamping: receivedBytes), toReceive: length.map { Int64(clamping: $0) })
    }

    /// Progress to report now; `nil` if nothing moved, or if the last report is too recent.
    mutating func dueProgress(at now: BootTime, isLast: Bool) -> ByteProgress? {
        // Before the rest: the lengths are in the head, which takes longer to read.
        guard Int64(clamping: sentBytes) != reported.sent || Int64(clamping: receivedBytes) != reported.received else {
            return nil
        }
        if !isLast, let reportedAt, now - reportedAt < .milliseconds(100) { return nil }
        let progress = progress
        reported = progress
        reportedAt = now
        return progress
    }
}

/// How much an attempt has sent and received, in bytes.
struct AttemptCounts: Equatable {
    /// Bytes of the request's body.
    var sent: UInt64 = 0
    /// Bytes of the response's body.
    var received: UInt64 = 0
    /// All bytes, in both directions.
    var moved: UInt64 = 0
    /// Whether it waits for the disk.
    var isPaused = false
    /// Whether the response is a redirect that is followed.
    var isRedirect = false
}

/// The result of an attempt, as far as it is known at its end.
struct AttemptResult {
    var phases: TransferPhases
    var counts = AttemptCounts()
    var wire = WireBytes()
    var status: Int?
    var remoteAddress: IPAddress?
    var localAddress: IPAddress?
    /// Whether it used an open connection.
    var isReused = false
    var certificate: PeerCertificate?
    /// Whether the body was cut at the limit.
    var isCut = false
    /// Whether the server said that it did not process the request.
    var isUnprocessed = false
    /// The complete head of the response.
    var response: ResponseHead?
    /// The target of a redirect that is followed.
    var redirect: String?
    /// Why it failed; `nil` if it did not.
    var failure: TransferFailure?

    init(phases: TransferPhases) { self.phases = phases }
}
