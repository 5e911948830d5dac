internal import ReachControl
internal import ReachCore

/// How far an attempt is, on one line for people.
struct QueueProgressText {
    let isUnicode: Bool

    private static let barWidth = 24

    /// - Parameter width: Columns of the terminal; what does not fit is cut.
    func line(_ progress: QueueProgress, rate: Int64?, width: Int) -> String {
        let isSending = (progress.toSend ?? 0) > progress.sent
        let (count, total) =
            isSending ? (progress.sent, progress.toSend) : (progress.received, progress.toReceive)
        var parts = [isSending ? "sending" : "receiving"]
        if let total, total > 0 {
            let done = min(max(0, count), total)
            parts.append(bar(done, of: total))
            parts.append("\(percent(done, of: total)) %")
            parts.append("\(ByteCount.describe(done)) of \(ByteCount.describe(total))")
        } else {
            parts.append(ByteCount.describe(count))
        }
        if let rate {
            parts.append("\(ByteCount.describe(rate))/s")
            if let total, rate > 0, total > count {
                parts.append("\(DurationText.describe(.seconds((total - count + rate - 1) / rate))) left")
            }
        }
        parts.append("by \(DisplayText.sanitized(progress.interface))")
        return String(parts.joined(separator: "  ").prefix(width))
    }

    /// 100 only when all of it is there.
    private func percent(_ count: Int64, of total: Int64) -> Int64 { Int64(Double(count) / Double(total) * 100) }

    private func bar(_ count: Int64, of total: Int64) -> String {
        let filled = Int(Double(count) / Double(total) * Double(Self.barWidth))
        let (full, empty) = isUnicode ? ("█", "░") : ("#", "-")
        return "[" + String(repeating: full, count: filled)
            + String(repeating: empty, count: Self.barWidth - filled) + "]"
    }
}
