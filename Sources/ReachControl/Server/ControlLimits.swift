/// What the server spends on its clients at most. A client that goes beyond costs only itself.
package struct ControlLimits: Hashable, Sendable {
    /// At any time, of everybody. systemd's services allow as many, and as many of one user.
    package var connections = 4096
    package var connectionsPerUser = 1024
    /// Different targets watched at any time.
    package var targets = 1024
    /// Different requests watched at any time, of one user; all together are one more.
    package var queueWatchesPerUser = 128
    /// A message without its NUL.
    package var messageBytes = FrameReader.standardLimit
    /// Of all a user's messages that are not whole yet, and of the answers to them that are not taken.
    package var unfinishedBytesPerUser = 8 << 20
    /// A message that was begun must be whole after this time.
    package var messagePatience: Duration = .seconds(10)
    /// Events kept for those who have yet to read them, for each watched target or request.
    package var backlogBytes = 256 << 10

    package init() {}
}
