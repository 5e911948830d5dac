package import ReachCore
package import ReachQueue

extension JSONWriter {
    /// A request, as `reach queue show --json` prints it.
    package mutating func queueItem(_ report: RequestReport, at moment: Instant) {
        queueObject("queue-item", at: moment) { RequestReport.fields.write(report, to: &$0) }
    }

    package mutating func queueReceipt(_ receipt: QueueReceipt, at moment: Instant) {
        queueObject("queue-receipt", at: moment) { QueueReceipt.fields.write(receipt, to: &$0) }
    }

    /// A request with the reasons why it is not running.
    package mutating func queueExplanation(_ report: RequestReport, at moment: Instant) {
        queueObject("queue-explanation", at: moment) { json in
            json.key("request")
            json.queueItem(report, at: moment)
            json.field("interface", report.interface)
            json.objects("reasons", report.reasons) { QueueExplanation.Reason.fields.write($1, to: &$0) }
        }
    }

    package mutating func queueAnswer(_ answer: QueueAnswer, at moment: Instant) {
        queueObject("queue-answer", at: moment) { QueueAnswer.fields.write(answer, to: &$0) }
    }

    /// A queue as a whole, as `reach queue status --json` prints it.
    package mutating func queueStatus(_ status: QueueStatus, at moment: Instant) {
        queueObject("queue-status", at: moment) { QueueStatus.fields.write(status, to: &$0) }
    }

    /// What holds a queue as a whole.
    mutating func queueHold(_ hold: QueueHold) { object { QueueHold.fields.write(hold, to: &$0) } }

    private mutating func queueObject(_ type: String, at moment: Instant, _ body: (inout JSONWriter) -> Void) {
        object { json in
            json.field("v", 1)
            json.field("type", type)
            json.times(moment.wall, moment.boot)
            body(&json)
        }
    }
}

extension RequestReport {
    /// Reads a request that ``JSONWriter/queueItem(_:at:)`` wrote, maybe that of a newer version.
    package init(reading json: JSONValue) throws(StatusReadingError) { try self.init(StatusReader(json)) }

    /// Reads a request with the reasons why it is not running.
    package init(readingExplanation json: JSONValue) throws(StatusReadingError) {
        let reader = try StatusReader(json)
        try self.init(reader.object("request"))
        interface = try reader.optional("interface", \.string)
        reasons = try reader.objects("reasons").map { reader throws(StatusReadingError) in
            var reason = QueueExplanation.Reason(blocker: [], since: .blank, until: nil, text: "", remedy: "")
            try QueueExplanation.Reason.fields.read(&reason, from: reader)
            return reason
        }
    }

    private init(_ reader: StatusReader) throws(StatusReadingError) {
        let request = RequestSpecification(method: "", stored: "", to: Destination(stored: ""))
        self.init(
            RequestID(rawValue: 0), QueuedRequest(request), created: Instant.blank.wall, deadline: Instant.blank.wall)
        try Self.fields.read(&self, from: reader)
    }
}

extension QueueHold {
    init(_ reader: StatusReader) throws(StatusReadingError) {
        self.init(source: .user, since: .blank)
        try Self.fields.read(&self, from: reader)
    }
}

extension QueueReceipt {
    package init(reading json: JSONValue) throws(StatusReadingError) {
        self.init(id: 0, isKept: false)
        try Self.fields.read(&self, from: StatusReader(json))
    }
}

extension QueueStatus {
    package init(reading json: JSONValue) throws(StatusReadingError) {
        self.init()
        try Self.fields.read(&self, from: StatusReader(json))
    }
}

extension QueueAnswer {
    package init(reading json: JSONValue) throws(StatusReadingError) {
        self.init(id: 0, state: .done, status: 0, headers: [], bodyBytes: 0, offset: 0, bytes: [])
        try Self.fields.read(&self, from: StatusReader(json))
    }
}

extension AttemptProgress {
    static let blank = AttemptProgress(id: RequestID(rawValue: 0), interface: "", began: .blank, bytes: ByteProgress())
}

extension Instant {
    static let blank = Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: 0))
}

/// A user's queue as a whole; for root, that of all users.
package struct QueueStatus: Hashable, Sendable {
    /// The number of unfinished requests.
    package var count: Int
    package var holds: [QueueHold]
    /// The budgets for metered links, and what is left of them.
    package var budgets: [MeteredReport]

    package init(count: Int = 0, holds: [QueueHold] = [], budgets: [MeteredReport] = []) {
        self.count = count
        self.holds = holds
        self.budgets = budgets
    }
}
