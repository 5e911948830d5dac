/// The bytes of events in the journal, by whose they are: the machine's, and each user's requests'.
struct JournalShares: Hashable, Sendable {
    private(set) var machine: Int64 = 0
    private(set) var users: [UInt32: Int64] = [:]

    var isEmpty: Bool { machine <= 0 && users.isEmpty }

    subscript(owner: UInt32?) -> Int64 { owner.map { users[$0] ?? 0 } ?? machine }

    /// - Parameter owner: `nil` for the machine.
    mutating func add(_ bytes: Int64, of owner: UInt32?) {
        guard let owner else { return machine += bytes }
        let left = users[owner, default: 0] + bytes
        users[owner] = left > 0 ? left : nil
    }

    mutating func add(_ other: JournalShares) {
        machine += other.machine
        for (user, bytes) in other.users { add(bytes, of: user) }
    }

    /// Whether these have something of what those have.
    func meets(_ other: JournalShares) -> Bool {
        machine > 0 && other.machine > 0 || users.keys.contains { other.users[$0] != nil }
    }

    /// The bytes of each that go, so that so many are left in all. The machine keeps what the users leave, and a half
    /// in any case; of the rest each user keeps as much as any other, or what it has.
    func excess(over goal: Int64) -> JournalShares {
        let requests = users.values.reduce(0, +)
        var excess = JournalShares()
        guard machine + requests > goal else { return excess }
        let kept = min(machine, max(goal / 2, goal - requests))
        excess.machine = machine - kept
        var room = goal - kept
        var left = Int64(users.count)
        for (user, bytes) in users.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
            let share = min(bytes, room / left)
            if bytes > share { excess.users[user] = bytes - share }
            room -= share
            left -= 1
        }
        return excess
    }
}
