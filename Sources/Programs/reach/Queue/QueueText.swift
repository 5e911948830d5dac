internal import ReachControl
internal import ReachCore
internal import ReachQueue
internal import ReachTerminal

/// Requests of the queue in words and tables, for people. Text from programs is made safe for a terminal.
struct QueueText {
    let style: TerminalStyle
    /// Columns of the terminal, if there is one.
    let width: Int?
    /// Writes a time in the local form.
    let stamp: (Timestamp) -> String

    // MARK: - Many

    func table(_ items: [RequestReport], at now: Timestamp) -> String {
        guard !items.isEmpty else { return "no requests\n" }
        let heading = ["ID", "STATE", "AGE", "TRIES", "WHEN", "METHOD", "URL"].map { TextTable.Cell($0, .grey) }
        let rows = items.map { item in
            [
                TextTable.Cell("\(item.id)", .bold), TextTable.Cell(state(item), Self.colour(of: item.state)),
                TextTable.Cell(age(item.created, now)), TextTable.Cell("\(item.tries)"),
                TextTable.Cell(DisplayText.sanitized(item.condition.description)),
                TextTable.Cell(DisplayText.sanitized(item.request.specification.method)),
                TextTable.Cell(DisplayText.sanitized(item.request.specification.url)),
            ]
        }
        return TextTable(style: style, width: width).layOut([heading] + rows)
    }

    /// The number of unfinished requests.
    func count(_ count: Int) -> String {
        switch count {
        case 0: "no request is on its way"
        case 1: "1 request is on its way"
        default: "\(count) requests are on their way"
        }
    }

    /// A line for each hold of the queue as a whole.
    func describe(_ holds: [QueueHold]) -> String {
        holds.map { hold in
            let who =
                switch hold.source {
                case .user: hold.owner.map { "user \($0) holds their requests" } ?? "a user holds their requests"
                case .root: "root holds the queue"
                case .fleet: "the fleet holds the queue"
                }
            let reason = hold.reason.map { ": \($0)" } ?? ""
            return style.paint(DisplayText.sanitized("\(who) since \(stamp(hold.since.wall))\(reason)"), .yellow) + "\n"
        }.joined()
    }

    /// A line for each budget for metered links.
    func describe(_ budgets: [MeteredReport]) -> String {
        budgets.map { budget in
            let renewed = budget.renewed.map { "; renewed \(stamp($0))" } ?? "; renewed when the clock is set"
            let colour: TerminalStyle.Colour? = budget.left == 0 ? .red : budget.percent >= 80 ? .yellow : nil
            let text = DisplayText.sanitized(Self.describe(budget) + renewed)
            return (colour.map { style.paint(text, $0) } ?? text) + "\n"
        }.joined()
    }

    /// `metered links: 12 MiB left of 200 MiB/month`.
    static func describe(_ budget: MeteredReport) -> String {
        let whose =
            switch budget.scope {
            case .all: "metered links"
            case .user(let user): "metered links, user \(user)"
            case .link(let pattern): "metered links \(pattern)"
            }
        return "\(whose): \(ByteCount.describe(budget.left)) left of \(budget.budget)"
    }

    /// The state, with its details.
    func state(_ item: RequestReport) -> String { state(item, item.state.rawValue) }

    private func state(_ item: RequestReport, _ word: String) -> String {
        // The state's own word says nothing more.
        let blockers = item.blockers.words.filter { $0 != item.state.rawValue }
        let details = ([item.status.map { "\($0)" }, item.reason].compactMap { $0 } + blockers).joined(separator: ", ")
        return DisplayText.sanitized(word + (details.isEmpty ? "" : " (\(details))"))
    }

    func age(_ time: Timestamp, _ now: Timestamp) -> String {
        DurationText.describe(.nanoseconds(max(0, now.nanosecondsSince1970 - time.nanosecondsSince1970)))
    }

    static func colour(of state: QueuedRequestState) -> TerminalStyle.Colour? {
        switch state {
        case .done, .running: .green
        case .dead: .red
        case .held, .backoff, .lingering: .yellow
        case .cancelled: .grey
        case .new, .waiting, .ready: nil
        }
    }

    // MARK: - One

    private func opening(_ item: RequestReport) -> String {
        // A request can wait, run or be dead; it is no backoff.
        let word = item.state == .backoff ? "waiting for its next attempt" : item.state.rawValue
        return "request \(item.id) is \(style.paint(state(item, word), Self.colour(of: item.state) ?? .bold))\n"
    }

    func describe(_ item: RequestReport) -> String {
        let url = DisplayText.sanitized("\(item.method) \(item.url)")
        let summary = opening(item)
        let lines: [(String, String?)] = [
            ("request", url),
            ("when", item.condition.description), ("priority", "\(item.priority)"), ("order", item.orderKey),
            ("key", item.uniqueness.key), ("sent with request", item.carrier.map { "\($0)" }),
            ("idempotency key", item.idempotency.key),
            ("body", item.bodyBytes > 0 ? body(item) : nil),
            ("added", stamp(item.created) + " by user \(item.request.owner)"),
            ("expires", item.over == nil ? stamp(item.deadline) : nil),
            ("next attempt", item.notBefore.map { "not before \(stamp($0))" }), ("over", item.over.map(stamp)),
            ("attempts", attempts(item)), ("now", item.running.map(progress)),
            (
                "answer",
                item.status.map { "status \($0)" + (item.answerBytes.map { ", \(ByteCount.describe($0))" } ?? "") }
            ),
        ]
        return summary
            + lines.compactMap { name, value in
                value.map { "  " + style.paint(name + ":", .grey) + " \(DisplayText.sanitized($0))\n" }
            }.joined()
    }

    private func body(_ item: RequestReport) -> String {
        let uploaded = item.uploadedBytes.map { ", of which the server has \(ByteCount.describe($0))" } ?? ""
        return ByteCount.describe(item.bodyBytes) + uploaded
    }

    private func attempts(_ item: RequestReport) -> String? {
        guard item.tries > 0 else { return nil }
        return "\(item.tries) made: \(item.attempts) failed, \(item.networkFailures) cut off by the network"
    }

    private func progress(_ attempt: AttemptProgress) -> String {
        let progress = attempt.bytes
        let sent = progress.toSend.map { "\(ByteCount.describe(progress.sent)) of \(ByteCount.describe($0)) sent, " }
        let total = progress.toReceive.map { " of \(ByteCount.describe($0))" } ?? ""
        return (sent ?? "") + "\(ByteCount.describe(progress.received))\(total) received by \(attempt.interface)"
    }

    // MARK: - Why

    /// A sentence for each reason, and one for what ends it.
    func explain(_ item: RequestReport, at now: Instant) -> String {
        let summary = opening(item)
        let url = "  " + DisplayText.sanitized("\(item.method) \(item.url)") + "\n"
        guard item.reasons.isEmpty else { return summary + url + item.reasons.map { reason($0, now) }.joined() }
        return summary + url + "  " + sentence(for: item) + "\n"
    }

    private func reason(_ reason: QueueExplanation.Reason, _ now: Instant) -> String {
        let since = "(\(DurationText.describe(max(.zero, now.boot - reason.since.boot))))"
        let text = DisplayText.sanitized(reason.text) + " " + style.paint(since, .grey)
        return "  " + style.paint(reason.blocker.words.joined() + ":", .yellow) + " \(text)\n"
            + "    " + DisplayText.sanitized(reason.remedy) + "\n"
    }

    private func sentence(for item: RequestReport) -> String {
        let way = item.interface.map { " by \(DisplayText.sanitized($0))" } ?? ""
        switch item.state {
        case .done: return "It was answered, and nothing further happens."
        case .dead: return "It is given up. \"reach queue retry \(item.id)\" sends it again."
        case .cancelled: return "It was cancelled, and nothing further happens."
        case .running: return "An attempt is under way\(way)."
        case .lingering: return "Its path is gone; it resumes if the path returns shortly."
        case .new, .held, .waiting, .backoff, .ready: return "Ready; starts\(way) shortly."
        }
    }

    // MARK: - Waiting

    /// Why a request still waits, on one line: `waiting for unmetered for 3 min 0 s: wlan0 down`.
    ///
    /// - Parameter links: Links that would satisfy the condition if they worked, each with its fault.
    func waiting(_ item: RequestReport, links: [String], at now: Instant) -> String {
        guard let reason = item.reasons.first else { return item.state.rawValue }
        let time = DurationText.describe(max(.zero, now.boot - reason.since.boot))
        let left = reason.until.map { "; \(DurationText.describe(max(.zero, $0.boot - now.boot))) left" } ?? ""
        guard reason.blocker.isOfNetwork else {
            return DisplayText.sanitized("waiting for \(time): \(Self.phrase(reason.text))\(left)")
        }
        // "Waiting for Wi-Fi: wlan0 is down." says itself for what.
        let cause = reason.text.after("Waiting for ")?.cut(at: ":")?.after.trimmed.before(".").map(String.init)
        let why = links.isEmpty ? cause ?? Self.phrase(reason.text) : links.joined(separator: ", ")
        let wanted = item.condition == .any ? "the network" : item.condition.description
        // Many reasons name it themselves.
        let what = why.containsUTF8("'\(wanted)'") ? "" : "\(wanted) for "
        return DisplayText.sanitized("waiting for \(what)\(time): \(why)\(left)")
    }

    /// A sentence as the rest of another.
    private static func phrase(_ sentence: String) -> String {
        let body = sentence.before(".").map(String.init) ?? sentence
        return body.prefix(1).lowercased() + body.dropFirst()
    }
}
