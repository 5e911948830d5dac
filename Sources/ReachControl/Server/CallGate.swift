/// Lets a few costly calls of each user through at a time; the others wait in the order in which they came.
///
/// What such a call costs is spent on other threads and on what they share (the queue's file), where no turn is taken.
struct CallGate<Call> {
    private struct Line {
        var running = 0
        var waiting: [Call] = []
    }

    let limit: Int
    private var lines: [UInt32: Line] = [:]

    init(limit: Int) { self.limit = limit }

    /// - Returns: Whether the call may begin. If not, it is kept, and comes out of ``finish(of:)``.
    mutating func admit(_ call: Call, of user: UInt32) -> Bool {
        guard lines[user, default: Line()].running < limit else {
            lines[user]?.waiting.append(call)
            return false
        }
        lines[user, default: Line()].running += 1
        return true
    }

    /// A call is over.
    ///
    /// - Returns: The one that begins in its place, if one waits.
    mutating func finish(of user: UInt32) -> Call? {
        guard let line = lines[user] else { return nil }
        guard line.waiting.isEmpty else { return lines[user]?.waiting.removeFirst() }
        if line.running > 1 { lines[user]?.running -= 1 } else { lines[user] = nil }
        return nil
    }
}
