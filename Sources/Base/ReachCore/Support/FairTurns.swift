/// Decides which user's turn is next: users share a thread's time evenly, however much each of them wants.
///
/// Each user has a line of waiting turns. The next turn goes to the user that has used the least time so far. A new
/// user begins with as much time as the others have used, so no user saves up time while idle.
///
/// Inlined, so that each module specialises it: generic code took a tenth of a small request's instructions.
package struct FairTurns<Turn> {
    @usableFromInline
    struct Line {
        @usableFromInline var turns: [Turn] = []
        /// Turns at the beginning of `turns` that are already taken.
        @usableFromInline var begun = 0
        /// The time that the user has used, on a scale that all users share.
        @usableFromInline var used: Duration
        /// The number of the user's latest turn, which orders users that have used the same time.
        @usableFromInline var lastServed: UInt64 = 0

        @inlinable init(used: Duration) { self.used = used }

        @inlinable var isEmpty: Bool { begun == turns.count }
    }

    @usableFromInline var lines: [UInt32: Line] = [:]
    /// The time that the user of the latest turn had used before it: no waiting user has used less.
    @usableFromInline var floor = Duration.zero
    @usableFromInline var served: UInt64 = 0
    @usableFromInline package internal(set) var count = 0

    /// The most that a user can be ahead of the others: work that delayed no other user is paid back only this far.
    @inlinable package static var longestDebt: Duration { .milliseconds(100) }

    @inlinable package init() {}

    /// The number of users beyond which small debts are dropped.
    @inlinable static var rememberedUsers: Int { 64 }

    @inlinable package var isEmpty: Bool { count == 0 }

    /// The number of users with a line.
    @inlinable package var userCount: Int { lines.count }

    @inlinable package mutating func add(_ turn: Turn, for user: UInt32) {
        var line = lines.removeValue(forKey: user) ?? Line(used: floor)
        if line.isEmpty { line.used = max(line.used, floor) }
        line.turns.append(turn)
        lines[user] = line
        count += 1
    }

    /// - Returns: The next turn and its user; `nil` if none waits.
    @inlinable package mutating func next() -> (user: UInt32, turn: Turn)? {
        var first: (user: UInt32, used: Duration, lastServed: UInt64)?
        for (user, line) in lines where !line.isEmpty {
            if let first, (first.used, first.lastServed) <= (line.used, line.lastServed) { continue }
            first = (user, line.used, line.lastServed)
        }
        guard let user = first?.user, var line = lines.removeValue(forKey: user) else { return nil }
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

    /// Adds time that was spent on a user, in a turn or outside of one.
    @inlinable package mutating func charge(_ time: Duration, to user: UInt32) {
        var line = lines.removeValue(forKey: user) ?? Line(used: floor)
        line.used = min(max(line.used, floor) + time, floor + Self.longestDebt)
        // A user without waiting turns and without debt is the same as a new user.
        if !line.isEmpty || line.used > floor { lines[user] = line }
        if lines.count > Self.rememberedUsers { forgetSmallDebts() }
    }

    @inlinable mutating func forgetSmallDebts() {
        let limit = floor + .milliseconds(1)
        lines = lines.filter { !$0.value.isEmpty || $0.value.used > limit }
    }

    @inlinable package mutating func removeAll() {
        lines = [:]
        count = 0
    }
}
