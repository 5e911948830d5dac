/// What the server spends on its clients at most. A client that goes beyond costs only itself.
package struct ControlLimits: Hashable, Sendable {
    /// At any time, of everybody. systemd's services allow as many, and as many of one user.
    package var connections = 4096
    package var connectionsPerUser = 1024
    /// Different targets watched at any time.
    package var targets = 1024
    /// Different targets watched at any time by one user: a quarter, but for who may put things right.
    var targetsPerUser: Int { max(1, targets / 4) }
    /// Different requests watched at any time, of one user; all together are one more.
    package var queueWatchesPerUser = 128
    /// A message without its NUL.
    package var messageBytes = FrameReader.standardLimit
    /// Of all a user's messages that are not whole yet or not answered, and of the answers that are not taken. Enough for
    /// 45 pieces of bodies on their way at once.
    package var unfinishedBytesPerUser = 32 << 20
    /// Calls of one user that are costly elsewhere than on the loop's thread (``VarlinkInterface/Method/Cost``), at any
    /// time; the rest wait for them.
    package var costlyCallsPerUser = 2
    /// A message that was begun must be whole after this time.
    package var messagePatience: Duration = .seconds(10)
    /// Events kept for those who have yet to read them, for each watched target or request.
    package var backlogBytes = 256 << 10

    package init() {}

    /// Holds one more target against what is watched already.
    ///
    /// - Parameters:
    ///   - count: Targets that are watched.
    ///   - own: Those of them that the user watches.
    func checkTarget(beside count: Int, ofUser own: Int, isExempt: Bool) throws(MonitorError) {
        guard count < targets else { throw .tooManyTargets(limit: targets) }
        guard isExempt || own < targetsPerUser else { throw .tooManyTargets(limit: targetsPerUser) }
    }
}
