package import ReachClient
package import ReachCore
package import ReachQueue

extension JSONWriter {
    /// A request, as `reach queue show --json` prints it.
    package mutating func queueItem(_ report: RequestReport, at moment: Instant) {
        line("queue-item", at: moment, report.writeMembers)
    }

    package mutating func queueReceipt(_ receipt: QueueReceipt, at moment: Instant) {
        line("queue-receipt", at: moment, receipt.writeMembers)
    }

    /// A request with the reasons why it is not running.
    package mutating func queueExplanation(_ report: RequestReport, at moment: Instant) {
        line("queue-explanation", at: moment) { json in
            json.key("request")
            json.queueItem(report, at: moment)
            json.field("interface", report.interface)
            json.key("reasons")
            report.reasons.write(to: &json)
        }
    }

    package mutating func queueAnswer(_ answer: QueueAnswer, at moment: Instant) {
        line("queue-answer", at: moment, answer.writeMembers)
    }

    /// A queue as a whole, as `reach queue status --json` prints it.
    package mutating func queueStatus(_ status: QueueStatus, at moment: Instant) {
        line("queue-status", at: moment, status.writeMembers)
    }
}

extension RequestReport {
    /// Reads a request with the reasons why it is not running.
    package init(readingExplanation json: JSONValue) throws(StatusReadingError) {
        var reader = try StatusReader(json)
        try self.init(reader.object("request"))
        reader.optional("interface", &interface)
        reader.member("reasons", &reasons)
        if let fault = reader.firstFault { throw fault }
    }
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
