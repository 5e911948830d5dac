/// The limits on what clients can use. A client that exceeds one harms only itself.
package struct ControlLimits: Hashable, Sendable {
    /// Connections of all users at the same time; the default is systemd's for its own Varlink services, as is the next
    /// one.
    package var connections = 4096
    package var connectionsPerUser = 1024
    /// Different targets watched at the same time.
    package var targets = 1024
    /// Different targets that one user watches at the same time: a quarter of all. Exempt users have no limit of their
    /// own.
    var targetsPerUser: Int { max(1, targets / 4) }
    /// Different requests that one user watches at the same time. A watch of all requests counts as one.
    package var queueWatchesPerUser = 128
    /// Connections of one user that follow the journal at the same time. Each costs a reading of its files for each
    /// event.
    package var journalFollowersPerUser = 16
    /// The longest message, without its NUL.
    package var messageBytes = FrameReader.standardLimit
    /// The bytes of all a user's incomplete or unanswered messages, and of answers that it has not received yet. Enough
    /// for 45 pieces of bodies in transit at the same time.
    package var unfinishedBytesPerUser = 32 << 20
    /// Calls of one user with a large cost (``VarlinkInterface/Method/Cost``) that run at the same time. The others
    /// wait.
    package var costlyCallsPerUser = 2
    /// Calls of one user that change the queue and run at the same time; the others wait. They take about 5 ms of the
    /// loop's and of the store's time together, and as many can wait for the disk at once.
    package var changesPerUser = 16
    /// The time within which a client must complete a message.
    package var messagePatience: Duration = .seconds(10)
    /// Bytes of events kept for slow subscribers, for each watched target or request.
    package var backlogBytes = 256 << 10
    /// Bytes of events kept for the slow subscribers of all targets and requests together, if that is more than for one
    /// of them.
    package var backlogBytesOfAll = 2 << 20

    package init() {}
}
