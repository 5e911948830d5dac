/// Whose turn is next: users share a thread's time evenly, however much each of them wants of it.
///
/// What one user waits with stands in a line of its own. The next turn is that of the user who has used the least time so
/// far. Somebody who comes begins where the others are, so nobody saves up time by being silent.
package struct FairTurns<Turn> {
    private struct Line {
        var turns: [Turn] = []
        /// Turns at the beginning that were had.
        var begun = 0
        /// How much the user has used, counted from the same beginning for all.
        var used: Duration
        /// Users who have used as much take turns.
        var lastServed: UInt64 = 0

        var isEmpty: Bool { begun == turns.count }
    }

    private var lines: [UInt32: Line] = [:]
    /// What the user had used whose turn was last: nobody who waits has used less.
    private var floor = Duration.zero
    private var served: UInt64 = 0
    package private(set) var count = 0

    /// What a user is ahead of the others at most: work that nobody else waited for is not paid back without end.
    package static var longestDebt: Duration { .milliseconds(100) }

    package init() {}

    /// With more of them, small debts are forgotten.
    private static var rememberedUsers: Int { 64 }

    package var isEmpty: Bool { count == 0 }

    /// Users of whom anything is remembered.
    package var userCount: Int { lines.count }

    package mutating func add(_ turn: Turn, for user: UInt32) {
        var line = lines.removeValue(forKey: user) ?? Line(used: floor)
        if line.isEmpty { line.used = max(line.used, floor) }
        line.turns.append(turn)
        lines[user] = line
        count += 1
    }

    /// - Returns: The turn to be had now, and who has it; `nil` if nobody waits.
    package mutating func next() -> (user: UInt32, turn: Turn)? {
        let waiting = lines.lazy.filter { !$0.value.isEmpty }
        let first = waiting.min { ($0.value.used, $0.value.lastServed) < ($1.value.used, $1.value.lastServed) }
        guard let user = first?.key, var line = lines.removeValue(forKey: user) else { return nil }
        let turn = line.turns[line.begun]
        line.begun += 1
        if line.isEmpty {
            line.turns = []
            line.begun = 0
        } else if line.begun > 64, line.begun > line.turns.count / 2 {
            line.turns.removeFirst(line.begun)
            line.begun = 0
        }
        count -= 1
        served += 1
        line.lastServed = served
        floor = max(floor, line.used)
        lines[user] = line
        return (user, turn)
    }

    /// Counts time that was spent on a user, in a turn or outside of it.
    package mutating func charge(_ time: Duration, to user: UInt32) {
        var line = lines.removeValue(forKey: user) ?? Line(used: floor)
        line.used = min(max(line.used, floor) + time, floor + Self.longestDebt)
        // Somebody who waits with nothing and owes nothing is a newcomer.
        if !line.isEmpty || line.used > floor { lines[user] = line }
        if lines.count > Self.rememberedUsers { forgetSmallDebts() }
    }

    private mutating func forgetSmallDebts() {
        let limit = floor + .milliseconds(1)
        lines = lines.filter { !$0.value.isEmpty || $0.value.used > limit }
    }

    package mutating func removeAll() {
        lines = [:]
        count = 0
    }
}
