internal import ReachCore
internal import ReachQueue

// The keys of the queue's objects. reach-events(7) and io.reach.Queue.varlink describe them; tests compare.

extension RequestReport {
    static let fields = JSONFields<RequestReport>([
        .value("id", \.id), .value("user", \.request.owner), .value("state", \.state), .optional("reason", \.reason),
        .value("blockers", \.blockers), .value("method", \.request.specification.method),
        .value("url", \.request.specification.url), .value("when", \.request.specification.condition),
        .value("priority", \.request.specification.priority), .optional("order", \.request.specification.orderKey),
        .optional("key", \.uniqueName), .optional("idempotency_key", \.idempotencyKey),
        .value("body_bytes", \.bodyBytes),
        .optional("upload_protocol", \.request.specification.uploadProtocol),
        .optional("proxy", \.proxyText),
        .optional("carrier", \.carrier), .optional("uploaded_bytes", \.uploadedBytes), .value("created", \.created),
        .value("deadline", \.deadline),
        .optional("not_before", \.notBefore), .optional("over", \.over), .value("attempts", \.attempts),
        .value("network_failures", \.networkFailures), .value("tries", \.tries), .optional("progress", \.progress),
        .optional("status", \.status), .optional("answer_bytes", \.answerBytes),
    ])

    private var uniqueName: String? {
        get { self.uniqueness.key }
        set { self.uniqueness = newValue.map { .unique(name: $0, mode: .keep) } ?? .none }
    }

    private var idempotencyKey: String? {
        get { self.idempotency.key }
        set { self.idempotency = newValue.map { .key($0) } ?? .byMethod }
    }

    private var proxyText: String? {
        get { request.specification.proxy.text }
        set {
            guard let proxy = newValue.flatMap({ try? RequestProxy($0) }) else { return }
            request.specification.proxy = proxy
        }
    }

    private var progress: AttemptProgress? {
        get { running }
        set {
            running = newValue
            running?.id = id
        }
    }
}

extension AttemptProgress {
    static let fields = JSONFields<AttemptProgress>([
        .value("interface", \.interface), .instant("began", "began_boottime_ns", \.began),
        .value("sent", \.bytes.sent), .optional("to_send", \.bytes.toSend), .value("received", \.bytes.received),
        .optional("to_receive", \.bytes.toReceive),
    ])
}

extension QueueExplanation.Reason {
    static let fields = JSONFields<QueueExplanation.Reason>([
        .value("blocker", \.word), .instant("since", "since_boottime_ns", \.since),
        .optional("until", "until_boottime_ns", \.until), .value("text", \.text), .value("remedy", \.remedy),
    ])

    private var word: String {
        get { blocker.words.first ?? "" }
        set { blocker = Blocker(words: [newValue]) }
    }
}

extension QueueHold {
    static let fields = JSONFields<QueueHold>([
        .value("by", \.source), .optional("user", \.owner), .instant("since", "since_boottime_ns", \.since),
        .optional("reason", \.reason),
    ])
}

extension QueueStatus {
    static let fields = JSONFields<QueueStatus>([
        .value("count", \.count), .value("holds", \.holds), .value("budgets", \.budgets),
    ])
}

extension MeteredReport {
    static let fields = JSONFields<MeteredReport>([
        .value("scope", \.scope), .value("bytes", \.budgetBytes), .value("period", \.period), .value("used", \.used),
        .value("left", \.shownLeft), .optional("renewed", \.renewed),
    ])

    static let blank = MeteredReport(
        scope: .all, budget: MeteredBudget(bytes: 1, per: .day), used: 0, renewed: nil)

    fileprivate var budgetBytes: Int64 {
        get { budget.bytes }
        set { budget = MeteredBudget(bytes: max(1, newValue), per: budget.period) }
    }

    fileprivate var period: MeteredPeriod {
        get { budget.period }
        set { budget = MeteredBudget(bytes: budget.bytes, per: newValue) }
    }

    /// It follows from the others.
    private var shownLeft: Int64 {
        get { left }
        set {}
    }
}

extension QueueEvent {
    static let fields = JSONFields<QueueEvent>([
        .value("event", \.kind), .value("epoch", \.epoch), .optional("id", \.request, else: .missing),
        .optional("user", \.owner, else: .missing), .optional("attempt", \.attempt, else: .missing),
        .optional("reason", \.reason, else: .missing), .optional("status", \.status, else: .missing),
        .optional("interface", \.interface, else: .missing), .optional("blockers", \.anyBlockers, else: .missing),
        .optional("not_before", \.notBefore, else: .missing), .optional("destination", \.destination, else: .missing),
        .optional("when", \.condition, else: .missing), .optional("count", \.count, else: .missing),
        .optional("budget", \.budgetScope, else: .missing),
        .optional("budget_bytes", \.budgetBytes, else: .missing),
        .optional("budget_period", \.budgetPeriod, else: .missing),
        .optional("budget_used", \.budgetUsed, else: .missing),
        .optional("budget_renewed", \.budgetRenewed, else: .missing),
    ])

    private var budgetScope: MeteredScope? {
        get { budget?.scope }
        set {
            budget = newValue.map { scope in
                var budget = MeteredReport.blank
                budget.scope = scope
                return budget
            }
        }
    }

    private var budgetBytes: Int64? {
        get { budget?.budgetBytes }
        set { if let newValue { budget?.budgetBytes = newValue } }
    }

    private var budgetPeriod: MeteredPeriod? {
        get { budget?.period }
        set { if let newValue { budget?.period = newValue } }
    }

    private var budgetUsed: Int64? {
        get { budget?.used }
        set { if let newValue { budget?.used = newValue } }
    }

    private var budgetRenewed: Timestamp? {
        get { budget?.renewed }
        set { budget?.renewed = newValue }
    }

    private var anyBlockers: Blocker? {
        get { blockers.isEmpty ? nil : blockers }
        set { blockers = newValue ?? [] }
    }
}

extension QueueReceipt {
    static let fields = JSONFields<QueueReceipt>([.value("id", \.id), .value("kept", \.isKept)])
}

extension QueueAnswer {
    static let fields = JSONFields<QueueAnswer>([
        .value("id", \.id), .value("state", \.state), .value("status", \.status), .value("headers", \.headers),
        .value("body_bytes", \.bodyBytes), .value("offset", \.offset), .value("data", \.data),
    ])

    private var data: Base64Text {
        get { Base64Text(bytes: bytes) }
        set { bytes = newValue.bytes }
    }
}

// MARK: - Words

extension QueuedRequestState: JSONText {
    init?(text: String) { self = Self(rawValue: text) ?? .waiting }
    var text: String { rawValue }
}

extension UploadProtocol: JSONText {
    init?(text: String) { self.init(rawValue: text) }
    var text: String { rawValue }
}

extension QueueEvent.Kind: JSONText {
    init?(text: String) { self.init(rawValue: text) }
    var text: String { rawValue }
}

extension QueueHold.Source: JSONText {
    init?(text: String) { self.init(rawValue: text) }
    var text: String { rawValue }
}

extension NetworkCondition: JSONText {
    init?(text: String) { self = (try? NetworkCondition(stored: text)) ?? .any }
    var text: String { description }
}

extension RequestPriority: JSONText {
    init?(text: String) { self = (try? RequestPriority(text)) ?? .normal }
    var text: String { "\(self)" }
}

extension Destination: JSONText {
    init?(text: String) { self.init(stored: text) }
    var text: String { description }
}

extension RequestID: JSONMember {
    init?(json: JSONValue) {
        guard let number = json.integer else { return nil }
        self.init(rawValue: number)
    }

    func write(to json: inout JSONWriter) { json.value(rawValue) }
}

extension Blocker: JSONMember {
    init?(json: JSONValue) {
        guard let words = [String](json: json) else { return nil }
        self.init(words: words)
    }

    func write(to json: inout JSONWriter) { words.write(to: &json) }
}

extension MeteredScope: JSONText {
    init?(text: String) { self = MeteredScope(text) ?? .all }
}

extension MeteredPeriod: JSONText {
    init?(text: String) { self = Self(rawValue: text) ?? .month }
    var text: String { rawValue }
}

extension MeteredReport: JSONMember {
    init?(json: JSONValue) {
        guard let reader = try? StatusReader(json) else { return nil }
        self = .blank
        guard (try? Self.fields.read(&self, from: reader)) != nil else { return nil }
    }

    func write(to json: inout JSONWriter) { json.object { Self.fields.write(self, to: &$0) } }
}

extension QueueHold: JSONMember {
    init?(json: JSONValue) {
        guard let reader = try? StatusReader(json), let hold = try? QueueHold(reader) else { return nil }
        self = hold
    }

    func write(to json: inout JSONWriter) { json.object { Self.fields.write(self, to: &$0) } }
}

extension AttemptProgress: JSONMember {
    init?(json: JSONValue) {
        guard let reader = try? StatusReader(json) else { return nil }
        self = .blank
        guard (try? Self.fields.read(&self, from: reader)) != nil else { return nil }
    }

    func write(to json: inout JSONWriter) { json.object { Self.fields.write(self, to: &$0) } }
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
