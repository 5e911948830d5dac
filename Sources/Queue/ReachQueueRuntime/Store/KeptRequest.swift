internal import ReachCore
internal import ReachQueue

/// A request in memory as it is kept: what it is, how far it is, and how it ended.
///
/// A class: the changes of a request are made in place. Touched only by whoever holds the dictionary that it is in.
final class KeptRequest {
    var request: QueuedRequest
    let created: Timestamp
    private let bodyBytes: Int64
    private(set) var deadline: Timestamp
    private(set) var progress: RequestProgress
    private(set) var end: RequestEnd?
    private var time: Timestamp?
    private var result: RequestResult?

    init(_ stored: StoredRequest, _ request: QueuedRequest) {
        self.request = request
        created = stored.created.wall
        deadline = stored.deadline.wall
        progress = stored.progress
        bodyBytes = request.specification.body.count
    }

    func lease(_ attempt: Int) { progress.tries = attempt }

    func hold(_ isHeld: Bool) { progress.isHeld = isHeld }

    func update(_ progress: RequestProgress) { self.progress = progress }

    func finish(_ progress: RequestProgress, _ end: RequestEnd, _ result: RequestResult?, at time: Timestamp) {
        self.progress = progress
        self.end = end
        self.time = time
        self.result = result
        if case .dead = end { return }
        // It is not sent again.
        if request.specification.body != .none { request.specification.body = .none }
    }

    func revive(_ progress: RequestProgress, deadline: Timestamp) {
        self.progress = progress
        self.deadline = deadline
        end = nil
        result = nil
    }

    func report(_ id: RequestID) -> RequestReport {
        var report = RequestReport(id, request, created: created, deadline: deadline)
        report.bodyBytes = bodyBytes
        report.body = .none
        report.attempts = progress.attempts
        report.networkFailures = progress.networkFailures
        report.tries = progress.tries
        report.notBefore = progress.notBefore?.wall
        if let end { report.finish(end, at: time) }
        report.result = result
        return report
    }
}
