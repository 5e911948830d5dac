/// The connections and unfinished bytes of each user, checked against the limits.
struct UserLedger {
    private struct Account {
        var connections = 0
        var unfinishedBytes = 0
    }

    private let limits: ControlLimits
    /// Users that are exempt from the limit on all connections, since they are needed to repair things.
    private let exempt: Set<UInt32>
    private var accounts: [UInt32: Account] = [:]
    private(set) var connections = 0

    init(limits: ControlLimits, exempt: Set<UInt32>) {
        self.limits = limits
        self.exempt = exempt
    }

    /// Counts one more connection.
    ///
    /// - Throws: ``MonitorError/tooManyConnections(limit:)`` if a limit is reached; the connection is not counted then.
    mutating func admit(_ user: UInt32) throws(MonitorError) {
        let account = accounts[user, default: Account()]
        guard account.connections < limits.connectionsPerUser else {
            throw .tooManyConnections(limit: limits.connectionsPerUser)
        }
        guard connections < limits.connections || exempt.contains(user) else {
            throw .tooManyConnections(limit: limits.connections)
        }
        connections += 1
        accounts[user, default: account].connections += 1
    }

    /// Releases a connection with its unfinished bytes. To be called when the connection's last call is over.
    mutating func release(_ user: UInt32, unfinishedBytes: Int) {
        connections -= 1
        accounts[user]?.connections -= 1
        accounts[user]?.unfinishedBytes -= unfinishedBytes
        if accounts[user]?.connections == 0 { accounts[user] = nil }
    }

    /// Counts unfinished bytes.
    ///
    /// - Returns: `false` if the user exceeds the limit.
    mutating func add(_ bytes: Int, for user: UInt32) -> Bool {
        accounts[user]?.unfinishedBytes += bytes
        return bytes <= 0 || accounts[user, default: Account()].unfinishedBytes <= limits.unfinishedBytesPerUser
    }
}

extension ControlLimits {
    /// Checks whether one more target may be watched.
    ///
    /// - Parameters:
    ///   - count: Targets watched now.
    ///   - own: The number of them that the user watches.
    func checkTarget(watched count: Int, byUser own: Int, isExempt: Bool) throws(MonitorError) {
        guard count < targets else { throw .tooManyTargets(limit: targets) }
        guard isExempt || own < targetsPerUser else { throw .tooManyTargets(limit: targetsPerUser) }
    }
}
