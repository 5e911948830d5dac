import Testing

@testable import ReachDaemon

/// Whose events go when the journal is full.
@Suite struct JournalSharesTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let machine: Int64
        let users: [UInt32: Int64]
        let goal: Int64
        let goes: Int64
        let ofUsers: [UInt32: Int64]
        var testDescription: String { "\(machine) and \(users) in \(goal)" }

        init(_ machine: Int64, _ users: [UInt32: Int64], in goal: Int64, goes: Int64, _ ofUsers: [UInt32: Int64]) {
            (self.machine, self.users, self.goal) = (machine, users, goal)
            (self.goes, self.ofUsers) = (goes, ofUsers)
        }
    }

    @Test(arguments: [
        Row(40, [1: 30], in: 100, goes: 0, [:]),
        Row(100, [:], in: 100, goes: 0, [:]),
        Row(120, [:], in: 100, goes: 20, [:]),
        // The machine keeps a half in any case, and what users leave.
        Row(50, [1: 1000], in: 100, goes: 0, [1: 950]),
        Row(90, [1: 1000], in: 100, goes: 40, [1: 950]),
        Row(90, [1: 20], in: 100, goes: 10, [:]),
        Row(0, [1: 150], in: 100, goes: 0, [1: 50]),
        // Users have as much as each other.
        Row(40, [1: 1000, 2: 10, 3: 50], in: 100, goes: 0, [1: 975, 3: 25]),
        Row(40, [1: 1000, 2: 10, 3: 20], in: 100, goes: 0, [1: 970]),
    ])
    func `the oldest events of whoever has more than a share go`(row: Row) {
        var shares = JournalShares()
        shares.add(row.machine, of: nil)
        for (user, bytes) in row.users { shares.add(bytes, of: user) }
        let excess = shares.excess(over: row.goal)
        #expect(excess.machine == row.goes && excess.users == row.ofUsers)
        #expect(excess.isEmpty == (row.goes == 0 && row.ofUsers.isEmpty))
    }
}
