package import ReachClient
package import ReachCore
package import ReachQueue

// The keys of the queue's objects. reach-events(7) and io.reach.Queue.varlink describe them; tests compare.

extension RequestReport: JSONObject {
    package static var blank: RequestReport {
        let request = RequestSpecification(method: "", stored: "", to: Destination(stored: ""))
        return RequestReport(
            RequestID(rawValue: 0), QueuedRequest(request), created: Instant.blank.wall, deadline: Instant.blank.wall)
    }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        var wanted = request.specification
        line.member("id", &id)
        line.member("user", &request.owner)
        line.word("state", &state, unknown: .waiting)
        line.optional("reason", &reason)
        line.member("blockers", &blockers)
        line.member("method", &wanted.method)
        line.member("url", &wanted.url)
        line.member("when", &wanted.condition)
        line.member("priority", &wanted.priority)
        line.optional("order", &wanted.orderKey)
        var (uniqueName, idempotencyKey) = (wanted.uniqueness.key, wanted.idempotency.key)
        line.optional("key", &uniqueName)
        line.optional("idempotency_key", &idempotencyKey)
        wanted.uniqueness = uniqueName.map { .unique(name: $0, mode: .keep) } ?? .none
        wanted.idempotency = idempotencyKey.map { .key($0) } ?? .byMethod
        line.member("body_bytes", &bodyBytes)
        line.word("upload_protocol", &wanted.uploadProtocol)
        var proxy = wanted.proxy.text
        line.optional("proxy", &proxy)
        if let proxy = proxy.flatMap({ try? RequestProxy($0) }) { wanted.proxy = proxy }
        request.specification = wanted
        line.optional("carrier", &carrier)
        line.optional("uploaded_bytes", &uploadedBytes)
        line.member("created", &created)
        line.member("deadline", &deadline)
        line.optional("not_before", &notBefore)
        line.optional("over", &over)
        line.member("attempts", &attempts)
        line.member("network_failures", &networkFailures)
        line.member("tries", &tries)
        line.optional("progress", &running)
        running?.id = id
        // Each of them would be set even when they are written, and a status has no answer yet.
        var (status, answerBytes) = (status, answerBytes)
        line.optional("status", &status)
        line.optional("answer_bytes", &answerBytes)
        (self.status, self.answerBytes) = (status, answerBytes)
    }
}

extension AttemptProgress: JSONObject {
    package static var blank: AttemptProgress {
        AttemptProgress(id: RequestID(rawValue: 0), interface: "", began: .blank, bytes: ByteProgress())
    }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        line.member("interface", &interface)
        line.instant("began", "began_boottime_ns", &began)
        line.member("sent", &bytes.sent)
        line.optional("to_send", &bytes.toSend)
        line.member("received", &bytes.received)
        line.optional("to_receive", &bytes.toReceive)
    }
}

extension QueueExplanation.Reason: JSONObject {
    package static var blank: Self { Self(blocker: [], since: .blank, until: nil, text: "", remedy: "") }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        var word = blocker.words.first ?? ""
        line.member("blocker", &word)
        blocker = Blocker(words: [word])
        line.instant("since", "since_boottime_ns", &since)
        line.instant("until", "until_boottime_ns", &until)
        line.member("text", &text)
        line.member("remedy", &remedy)
    }
}

extension QueueHold: JSONObject {
    package static var blank: QueueHold { QueueHold(source: .user, since: .blank) }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        line.knownWord("by", &source)
        line.optional("user", &owner)
        line.instant("since", "since_boottime_ns", &since)
        line.optional("reason", &reason)
    }
}

extension QueueStatus: JSONObject {
    package static var blank: QueueStatus { QueueStatus() }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        line.member("count", &count)
        line.member("holds", &holds)
        line.member("budgets", &budgets)
    }
}

extension MeteredReport: JSONObject {
    package static var blank: MeteredReport {
        MeteredReport(scope: .all, budget: MeteredBudget(bytes: 1, per: .day), used: 0, renewed: nil)
    }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        line.member("scope", &scope)
        var (bytes, period, rest) = (budget.bytes, budget.period, left)
        line.member("bytes", &bytes)
        line.word("period", &period, unknown: .month)
        budget = MeteredBudget(bytes: max(1, bytes), per: period)
        line.member("used", &used)
        line.member("left", &rest)
        line.optional("renewed", &renewed)
    }
}

extension QueueEvent: JSONObject {
    package static var blank: QueueEvent { QueueEvent(.queued, at: .blank, epoch: 0) }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        line.knownWord("event", &kind)
        line.member("epoch", &epoch)
        line.optional("id", &request, else: .missing)
        line.optional("user", &owner, else: .missing)
        line.optional("attempt", &attempt, else: .missing)
        line.optional("reason", &reason, else: .missing)
        line.optional("status", &status, else: .missing)
        line.optional("interface", &interface, else: .missing)
        var found = blockers.isEmpty ? nil : blockers
        line.optional("blockers", &found, else: .missing)
        blockers = found ?? []
        line.optional("not_before", &notBefore, else: .missing)
        line.optional("destination", &destination, else: .missing)
        line.optional("when", &condition, else: .missing)
        line.optional("count", &count, else: .missing)
        budgetMembers(&line)
    }

    private mutating func budgetMembers(_ line: inout some JSONMembers & ~Copyable) {
        var scope = budget?.scope
        line.optional("budget", &scope, else: .missing)
        guard let scope else { return }
        var report = budget ?? .blank
        report.scope = scope
        var (bytes, period) = (report.budget.bytes, report.budget.period)
        line.member("budget_bytes", &bytes)
        line.word("budget_period", &period, unknown: .month)
        report.budget = MeteredBudget(bytes: max(1, bytes), per: period)
        line.member("budget_used", &report.used)
        line.optional("budget_renewed", &report.renewed, else: .missing)
        budget = report
    }
}

extension QueueReceipt: JSONObject {
    package static var blank: QueueReceipt { QueueReceipt(id: 0, isKept: false) }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        line.member("id", &id)
        line.member("kept", &isKept)
    }
}

extension QueueAnswer: JSONObject {
    package static var blank: QueueAnswer {
        QueueAnswer(id: 0, state: .done, status: 0, headers: [], bodyBytes: 0, offset: 0, bytes: [])
    }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        line.member("id", &id)
        line.word("state", &state, unknown: .waiting)
        line.member("status", &status)
        line.member("headers", &headers)
        line.member("body_bytes", &bodyBytes)
        line.member("offset", &offset)
        var data = Base64Text(bytes: bytes)
        line.member("data", &data)
        bytes = data.bytes
    }
}

// MARK: - Values

extension NetworkCondition: JSONText {
    package init?(text: String) { self = (try? NetworkCondition(stored: text)) ?? .any }
    package var text: String { description }
}

extension RequestPriority: JSONText {
    package init?(text: String) { self = (try? RequestPriority(text)) ?? .normal }
    package var text: String { "\(self)" }
}

extension Destination: JSONText {
    package init?(text: String) { self.init(stored: text) }
    package var text: String { description }
}

extension MeteredScope: JSONText {
    package init?(text: String) { self = MeteredScope(text) ?? .all }
}

extension RequestID: JSONMember {
    package init(_ json: JSONValue, key: String) throws(StatusReadingError) {
        self.init(rawValue: try Int64(json, key: key))
    }

    package func write(to json: inout JSONWriter) { json.value(rawValue) }
}

extension Blocker: JSONMember {
    package init(_ json: JSONValue, key: String) throws(StatusReadingError) {
        self.init(words: try [String](json, key: key))
    }

    package func write(to json: inout JSONWriter) { words.write(to: &json) }
}

extension HeaderField: JSONObject {
    package static var blank: HeaderField { HeaderField("", "") }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        var (name, value) = (name, value)
        line.member("name", &name)
        line.member("value", &value)
        self = HeaderField(name, value)
    }
}

/// Bytes, as text.
private struct Base64Text: JSONText {
    let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    init?(text: String) {
        guard let bytes = Base64.decode(Array(text.utf8)) else { return nil }
        self.bytes = bytes
    }

    var text: String { Base64.encode(bytes) }

    func write(to json: inout JSONWriter) { json.value(base64: bytes) }
}
