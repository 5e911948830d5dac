internal import Glibc
package import ReachLoop

/// Answers programs on this machine over a Unix socket, in Varlink. It lives on an event loop's thread.
package final class ControlServer {
    package struct Statistics: Hashable, Sendable {
        package var connections = 0
        package var subscribers = 0
        /// Different targets that are subscribed to.
        package var targets = 0
        /// Connections that were turned away, since the start.
        package var refusedConnections: UInt64 = 0
        /// Connections that were ended for what came by them, since the start.
        package var badMessages: UInt64 = 0
        /// Events that subscribers were too slow for, since the start.
        package var droppedEvents: UInt64 = 0
    }

    private let loop: EventLoop
    private let switchboard: Switchboard
    private var acceptors: [Acceptor] = []
    /// Is told what an operator should know: one line of text.
    package var whenTroubled: (String) -> Void = { _ in }

    /// - Parameters:
    ///   - service: Kept alive by the server.
    ///   - queue: What answers io.reach.Queue, kept alive by the server; without it there is no such interface.
    ///   - interfaces: Further ones, beside org.varlink.service, io.reach.Monitor and io.reach.Queue.
    package init(
        loop: EventLoop, service: any ControlService, information: ServiceInformation,
        queue: (any QueueService)? = nil, interfaces: [VarlinkInterface] = [], authority: ControlAuthority,
        limits: ControlLimits = ControlLimits()
    ) {
        self.loop = loop
        let topics = Topics(
            service: service, queue: queue, limits: limits, exempt: authority.exempt)
        let queueInterface = queue.map { QueueInterface.make($0, topics) }
        let own = [MonitorInterface.make(service, topics)] + [queueInterface].compactMap { $0 } + interfaces
        switchboard = Switchboard(
            loop: loop, topics: topics, interfaces: [ServiceInterface.make(information, own)] + own,
            authority: authority, limits: limits)
    }

    deinit { stop() }

    /// Listens at a path. A socket on which nobody answers is replaced.
    package func listen(at path: String) throws(ListenError) {
        try accept(from: ListeningSocket(at: path), named: path)
    }

    /// Listens on a descriptor that the service manager opened, and takes it over.
    package func listen(inheriting descriptor: Int32) throws(ListenError) {
        try accept(from: ListeningSocket(inherited: descriptor), named: "descriptor \(descriptor)")
    }

    /// Ends all connections, and removes the sockets it made.
    package func stop() {
        acceptors = []
        switchboard.closeAll()
    }

    package var statistics: Statistics { switchboard.statistics }

    private func accept(from socket: ListeningSocket, named name: String) throws(ListenError) {
        do throws(SystemError) {
            let acceptor = try Acceptor(socket, on: loop) { [unowned self] error in
                whenTroubled("connections are turned away: \(error)")
            } take: { [switchboard] descriptor in
                switchboard.connect(descriptor)
            }
            acceptors.append(acceptor)
        } catch {
            throw .failed(path: name, error)
        }
    }
}
