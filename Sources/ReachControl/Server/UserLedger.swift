/// What each user takes of the server, and whether more may be had.
struct UserLedger {
    private struct Account {
        var connections = 0
        var unfinishedBytes = 0
    }

    private let limits: ControlLimits
    /// Users that are let in however many connections there are, since they are needed to put things right.
    private let exempt: Set<UInt32>
    private var accounts: [UInt32: Account] = [:]
    private(set) var connections = 0

    init(limits: ControlLimits, exempt: Set<UInt32>) {
        self.limits = limits
        self.exempt = exempt
    }

    /// Counts one more connection.
    ///
    /// - Throws: ``MonitorError/tooManyConnections(limit:)``, and does not count it.
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

    /// One connection less, with what it has not finished. To be called when the connection's last call is over.
    mutating func release(_ user: UInt32, unfinishedBytes: Int) {
        connections -= 1
        accounts[user]?.connections -= 1
        accounts[user]?.unfinishedBytes -= unfinishedBytes
        if accounts[user]?.connections == 0 { accounts[user] = nil }
    }

    /// Counts unfinished bytes.
    ///
    /// - Returns: `false` if they are too many.
    mutating func add(_ bytes: Int, for user: UInt32) -> Bool {
        accounts[user]?.unfinishedBytes += bytes
        return bytes <= 0 || accounts[user, default: Account()].unfinishedBytes <= limits.unfinishedBytesPerUser
    }
}
