/// Limits how many costly calls of each user run at the same time. Further calls wait in the order of their arrival.
///
/// Costly calls use other threads and what those share, such as the queue's file. ``FairTurns`` only shares out the
/// time of the loop's thread.
struct CallGate<Call> {
    private struct Line {
        var running = 0
        var waiting: [Call] = []
    }

    let limit: Int
    private var lines: [UInt32: Line] = [:]

    init(limit: Int) { self.limit = limit }

    /// - Returns: Whether the call may begin now. If not, the gate keeps it, and ``finish(of:)`` returns it later.
    mutating func admit(_ call: Call, of user: UInt32) -> Bool {
        guard lines[user, default: Line()].running < limit else {
            lines[user]?.waiting.append(call)
            return false
        }
        lines[user, default: Line()].running += 1
        return true
    }

    /// Notes that a call of a user is over.
    ///
    /// - Returns: The waiting call that may begin in its place, if there is one.
    mutating func finish(of user: UInt32) -> Call? {
        guard let line = lines[user] else { return nil }
        guard line.waiting.isEmpty else { return lines[user]?.waiting.removeFirst() }
        if line.running > 1 { lines[user]?.running -= 1 } else { lines[user] = nil }
        return nil
    }
}

extension ControlLimits {
    /// How many calls of a cost a user may have at the same time; `nil` if there is no limit.
    func calls(costing cost: VarlinkInterface.Method.Cost) -> Int? {
        switch cost {
        case .small: nil
        case .large: costlyCallsPerUser
        case .change: changesPerUser
        }
    }
}
