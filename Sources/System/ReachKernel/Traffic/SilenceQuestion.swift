/// The question which transmissions of TCP sockets on a path are not answered.
package struct SilenceQuestion: Hashable, Sendable {
    package var sockets: PathSockets
    /// If a socket received something within this time, the path is not silent, and the other sockets are not looked
    /// at.
    package var hearing: Duration

    package init(_ sockets: PathSockets, hearing: Duration) {
        self.sockets = sockets
        self.hearing = hearing
    }
}

/// The answer to a ``SilenceQuestion``.
package enum SilenceAnswer: Hashable, Sendable {
    /// A socket received something just now.
    case heard
    /// No socket did.
    case sample(SilenceSample)
    /// There are too many sockets to look at each, and none of those looked at received something just now.
    case tooMany
    /// The query failed: the kernel lacks the modules (tcp_diag), or does not allow this process to ask.
    case notAsked
}

/// What the sockets on a path show: when one of them last received something, and what is not answered.
package struct SilenceSample: Hashable, Sendable {
    /// The time since a socket received something; `nil` if none ever did.
    package private(set) var sinceReceived: Duration?
    package private(set) var stalled: [StalledSocket] = []
    private var counts: [UInt32: Int] = [:]

    /// The most sockets of one user that are kept, and the most users: no one's flood of sockets displaces another's.
    package static let socketsOfUser = 64
    package static let userLimit = 64

    package init() {}

    package mutating func noteReception(_ age: Duration) { sinceReceived = sinceReceived.map { min($0, age) } ?? age }

    package mutating func add(_ socket: StalledSocket) {
        let count = counts[socket.user] ?? 0
        guard count < Self.socketsOfUser, count > 0 || counts.count < Self.userLimit else { return }
        counts[socket.user] = count + 1
        stalled.append(socket)
    }
}
