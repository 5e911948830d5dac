internal import ReachCore

/// What a transfer's report and progress are made of, over all its hops: a value.
struct TransferRecord {
    /// One at least, once the transfer has begun.
    var hops: [TransferHop] = []
    /// The response's head, where it is not a redirect to follow.
    var head: ResponseHead?
    /// The response's body, as far as it goes into memory.
    var body: [UInt8] = []
    /// The response's body goes into a file.
    var hasFile = false
    /// Nothing failed while the file was written.
    var isFileGood = true
    /// The body was cut at the limit.
    var isCut = false
    /// Of the request's body; `nil` without one.
    var bodyBytes: UInt64?
    /// Of the attempt under way, or of the last one.
    var counts = AttemptCounts()
    /// Body bytes of the hops that are over.
    private var sentBefore: UInt64 = 0
    private var receivedBefore: UInt64 = 0
    private var reported = TransferProgress()
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

    var progress: TransferProgress {
        TransferProgress(
            sent: sentBefore + counts.sent, toSend: bodyBytes, received: receivedBefore + counts.received,
            toReceive: head?["content-encoding"] == nil ? head?.contentLength : nil)
    }

    /// Progress to report now; `nil` where nothing moved, or where the last report is too recent.
    mutating func dueProgress(at now: BootTime, isLast: Bool) -> TransferProgress? {
        let progress = progress
        guard progress.sent != reported.sent || progress.received != reported.received else { return nil }
        if !isLast, let reportedAt, now - reportedAt < .milliseconds(100) { return nil }
        reported = progress
        reportedAt = now
        return progress
    }
}

/// How much an attempt has moved.
struct AttemptCounts: Equatable {
    /// Bytes of the request's body.
    var sent: UInt64 = 0
    /// Bytes of the response's body.
    var received: UInt64 = 0
    /// Bytes of anything, in both directions.
    var moved: UInt64 = 0
    /// It waits for the disk.
    var isPaused = false
}

/// What is known of an attempt at its end.
struct AttemptResult {
    var phases: TransferPhases
    var counts = AttemptCounts()
    var status: Int?
    var remoteAddress: IPAddress?
    var localAddress: IPAddress?
    /// It used an open connection.
    var isReused = false
    var certificate: PeerCertificate?
    /// The body was cut at the limit.
    var isCut = false
    /// The complete head of the response.
    var response: ResponseHead?
    /// Where the response redirects to, where that is followed.
    var redirect: String?
    /// Why it failed; `nil` where it did not.
    var failure: TransferFailure?

    init(phases: TransferPhases) { self.phases = phases }
}
