internal import ReachControl
internal import ReachCore
internal import ReachQueue
internal import ReachTerminal

/// How far an attempt is, on one line for people.
struct QueueProgressText {
    let isUnicode: Bool

    /// As wide as there is room for.
    private static let barWidths = 8...24

    /// - Parameter width: Columns of the terminal; figures that do not fit are left out, the last ones first.
    func line(_ attempt: AttemptProgress, rate: Int64?, width: Int) -> String {
        let progress = attempt.bytes
        let isSending = (progress.toSend ?? 0) > progress.sent
        let (count, total) =
            isSending ? (progress.sent, progress.toSend) : (progress.received, progress.toReceive)
        // Nothing has left before the connection stands.
        let hasBegun = progress.sent > 0 || progress.received > 0
        let verb = !hasBegun ? (isSending ? "connecting" : "waiting") : isSending ? "sending" : "receiving"
        return line(
            verb, count, of: total, rate: rate, "by \(DisplayText.sanitized(attempt.interface))", width: width)
    }

    /// - Parameter more: What stands behind the figures.
    func line(
        _ verb: String, _ count: Int64, of total: Int64?, rate: Int64?, _ more: String? = nil, width: Int
    ) -> String {
        var parts = details(count, of: total, rate: rate) + [more].compactMap(\.self)
        let hasBar = (total ?? 0) > 0
        // Brackets, and two times two spaces.
        let around = verb.count + 2 + (hasBar ? Self.barWidths.lowerBound + 4 : 0)
        while parts.count > 1, around + parts.joined(separator: "  ").count > width { parts.removeLast() }
        let words = parts.joined(separator: "  ")
        guard let total, hasBar else { return String("\(verb)  \(words)".prefix(width)) }
        let room = width - verb.count - words.count - 6
        let bar = bar(count, of: total, width: min(max(room, Self.barWidths.lowerBound), Self.barWidths.upperBound))
        return String("\(verb)  \(bar)  \(words)".prefix(width))
    }

    private func details(_ count: Int64, of total: Int64?, rate: Int64?) -> [String] {
        var parts: [String] = []
        if let total, total > 0 {
            parts.append("\(percent(count, of: total)) %")
            parts.append("\(ByteCount.describe(count)) of \(ByteCount.describe(total))")
        } else {
            parts.append(ByteCount.describe(count))
        }
        if let rate {
            parts.append("\(ByteCount.describe(rate))/s")
            if let total, rate > 0, total > count {
                parts.append("\(DurationText.describe(.seconds((total - count + rate - 1) / rate))) left")
            }
        }
        return parts
    }

    /// 100 only when all of it is there.
    private func percent(_ count: Int64, of total: Int64) -> Int64 {
        Int64(min(1, Double(count) / Double(total)) * 100)
    }

    private func bar(_ count: Int64, of total: Int64, width: Int) -> String {
        let filled = Int(min(1, max(0, Double(count) / Double(total))) * Double(width))
        let (full, empty) = isUnicode ? ("█", "░") : ("#", "-")
        return "[" + String(repeating: full, count: filled) + String(repeating: empty, count: width - filled) + "]"
    }
}
