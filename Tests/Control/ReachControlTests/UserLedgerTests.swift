import Testing

@testable import ReachControl

@Suite struct UserLedgerTests {
    private func ledger(exempt: Set<UInt32> = []) -> UserLedger {
        var limits = ControlLimits()
        limits.connections = 4
        limits.connectionsPerUser = 2
        limits.unfinishedBytesPerUser = 100
        return UserLedger(limits: limits, exempt: exempt)
    }

    @Test func `connections are limited for each user, and for all together`() throws {
        var ledger = ledger()
        try ledger.admit(1)
        try ledger.admit(1)
        #expect(throws: MonitorError.tooManyConnections(limit: 2)) { try ledger.admit(1) }
        try ledger.admit(2)
        try ledger.admit(3)
        #expect(throws: MonitorError.tooManyConnections(limit: 4)) { try ledger.admit(4) }
        ledger.release(1, unfinishedBytes: 0)
        try ledger.admit(4)
        #expect(ledger.connections == 4)
    }

    @Test func `exempt users connect when the server is full, up to their own limit`() throws {
        var ledger = ledger(exempt: [0])
        for user in [1, 1, 2, 2] as [UInt32] { try ledger.admit(user) }
        try ledger.admit(0)
        try ledger.admit(0)
        #expect(throws: MonitorError.tooManyConnections(limit: 2)) { try ledger.admit(0) }
    }

    @Test func `a user watches a quarter of all targets, and exempt users as many as there are`() throws {
        var limits = ControlLimits()
        limits.targets = 8
        try limits.checkTarget(watched: 7, byUser: 1, isExempt: false)
        #expect(throws: MonitorError.tooManyTargets(limit: 2)) {
            try limits.checkTarget(watched: 2, byUser: 2, isExempt: false)
        }
        try limits.checkTarget(watched: 7, byUser: 7, isExempt: true)
        #expect(throws: MonitorError.tooManyTargets(limit: 8)) {
            try limits.checkTarget(watched: 8, byUser: 0, isExempt: true)
        }
    }

    @Test func `unfinished bytes count for the user until the connection is released`() throws {
        var ledger = ledger()
        try ledger.admit(1)
        try ledger.admit(1)
        let answers = [60, 60, -60, 40].map { ledger.add($0, for: 1) }
        #expect(answers == [true, false, true, true])
        ledger.release(1, unfinishedBytes: 60)
        let answer = ledger.add(60, for: 1)
        #expect(answer)
    }
}

@Suite struct ControlAuthorityTests {
    private func caller(_ user: UInt32, _ group: UInt32) -> Caller { Caller(user: user, group: group, process: 1) }

    @Test func `root, the daemon's user and members of the group may change something`() {
        let authority = ControlAuthority(user: 100, group: 50)
        let none: (UInt32) -> Bool = { _ in false }
        #expect(authority.mayChange(caller(0, 0), isMember: none))
        #expect(authority.mayChange(caller(100, 1), isMember: none))
        #expect(authority.mayChange(caller(7, 50), isMember: none))
        #expect(authority.mayChange(caller(7, 7)) { $0 == 50 })
        #expect(!authority.mayChange(caller(7, 7), isMember: none))
        #expect(!ControlAuthority(user: 100).mayChange(caller(7, 0)) { _ in true })
    }
}
