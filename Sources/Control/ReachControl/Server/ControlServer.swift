internal import Glibc
package import ReachLoop

/// A Varlink server on a Unix socket. Use it on its event loop's thread only.
package final class ControlServer {
    package struct Statistics: Hashable, Sendable {
        package var connections = 0
        package var subscribers = 0
        /// Different targets with subscribers.
        package var targets = 0
        /// Connections refused since the start.
        package var refusedConnections: UInt64 = 0
        /// Connections closed because of what they sent, since the start.
        package var badMessages: UInt64 = 0
        /// What the events take in memory that slow subscribers have still to read.
        package var backlogBytes = 0
        /// Events that subscribers missed because they read too slowly, since the start.
        package var droppedEvents: UInt64 = 0
    }

    private let loop: EventLoop
    private let switchboard: Switchboard
    private var acceptors: [Acceptor] = []
    /// Called with a warning for the operator: one line of text.
    package var onWarning: (String) -> Void = { _ in }

    /// - Parameters:
    ///   - service: Answers io.reach.Monitor. The server keeps it alive.
    ///   - queue: Answers io.reach.Queue. The server keeps it alive; without it the interface does not exist.
    ///   - encoder: Encodes the events of targets.
    ///   - interfaces: Interfaces in addition to org.varlink.service, io.reach.Monitor and io.reach.Queue.
    package init(
        loop: EventLoop, service: any ControlService, information: ServiceInformation,
        queue: (any QueueService)? = nil, encoder: ChangeEncoder = ChangeEncoder(source: .daemon),
        interfaces: [VarlinkInterface] = [], authority: ControlAuthority, limits: ControlLimits = ControlLimits()
    ) {
        self.loop = loop
        let topics = Topics(
            service: service, queue: queue, encoder: encoder, limits: limits, exempt: authority.exempt)
        let queueInterface = queue.map { QueueInterface.make($0, topics) }
        let followers = JournalFollowers(service: service, limit: limits.journalFollowersPerUser)
        let served =
            [MonitorInterface.make(service, topics, followers)] + [queueInterface].compactMap { $0 } + interfaces
        switchboard = Switchboard(
            loop: loop, topics: topics, interfaces: [ServiceInterface.make(information, served)] + served,
            authority: authority, limits: limits)
    }

    deinit { stop() }

    /// Listens at a path. Replaces a stale socket, on which no process listens.
    package func listen(at path: String) throws(ListenError) {
        try accept(from: ListeningSocket(at: path), named: path)
    }

    /// Listens on a descriptor that the service manager opened, and takes ownership of it.
    package func listen(inheriting descriptor: Int32) throws(ListenError) {
        try accept(from: ListeningSocket(inherited: descriptor), named: "descriptor \(descriptor)")
    }

    /// Closes all connections, and removes the sockets that the server made.
    package func stop() {
        acceptors = []
        switchboard.closeAll()
    }

    package var statistics: Statistics { switchboard.statistics }

    private func accept(from socket: ListeningSocket, named name: String) throws(ListenError) {
        do throws(SystemError) {
            let acceptor = try Acceptor(socket, on: loop) { [unowned self] error in
                onWarning("refusing connections: \(error)")
            } onConnection: { [unowned self] descriptor in
                switchboard.connect(descriptor)
            }
            acceptors.append(acceptor)
        } catch {
            throw .failed(path: name, error)
        }
    }
}
