internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachTransfer

/// Answers Prometheus's scrapes: GET of one page, in bounded bytes and time, on the loop of the metrics' thread.
///
/// It is no web server. A library for one would cost more than all of this: swift-nio's is megabytes of code, and threads.
final class MetricsServer {
    private let listener: CInt
    private let loop: EventLoop
    private let source: MetricsSource
    private var connections: [CInt: MetricsConnection] = [:]
    private var accepted: UInt64 = 0

    /// Prometheus has one, a person with a browser a few; others may be silent.
    private static let connectionLimit = 64
    /// What those sent who were let in is read before more are.
    private static let acceptsPerTurn = 16
    private static let listenBacklog: CInt = 256

    /// Takes the listening socket over.
    init(listener: CInt, on loop: EventLoop, _ source: MetricsSource) {
        self.listener = listener
        self.loop = loop
        self.source = source
        try? loop.watch(listener, for: .readable) { [unowned self] _ in accept() }
    }

    func stop() {
        loop.unwatch(listener)
        close(listener)
        connections.values.forEach { $0.close() }
    }

    /// A socket that listens there.
    static func listen(at place: SocketPlace) throws(SystemError) -> CInt {
        let domain = place.address.family == .ipv4 ? AF_INET : AF_INET6
        let descriptor = reach_stream_socket(domain)
        guard descriptor >= 0 else { throw SystemError(call: "socket", number: -descriptor) }
        do throws(SystemError) {
            var yes: CInt = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<CInt>.size))
            let address = SocketAddress(address: place.address, port: place.port)
            _ = try SystemError.check("bind") { address.withPointer { bind(descriptor, $0, $1) } }
            _ = try SystemError.check("listen") { Glibc.listen(descriptor, listenBacklog) }
            return descriptor
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    private func accept() {
        for _ in 0..<Self.acceptsPerTurn {
            let descriptor = reach_accept(listener)
            guard descriptor >= 0 else { return }
            makeRoom()
            accepted += 1
            connections[descriptor] = MetricsConnection(descriptor, number: accepted, on: loop, source) {
                [unowned self] in
                connections[descriptor] = nil
            }
        }
    }

    /// Where there is none, whoever has been silent for longest gives way, and else whoever has been there for longest:
    /// those who want to know ask at once, and are answered within milliseconds.
    private func makeRoom() {
        guard connections.count >= Self.connectionLimit else { return }
        let all = connections.values
        let idle = all.lazy.filter { !$0.isBeingAnswered }.min { $0.number < $1.number }
        (idle ?? all.min { $0.number < $1.number })?.close()
    }
}
