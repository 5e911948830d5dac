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

    /// Prometheus has one, a person with a browser a few.
    private static let connectionLimit = 16

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
            _ = try SystemError.check("listen") { Glibc.listen(descriptor, CInt(connectionLimit)) }
            return descriptor
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    private func accept() {
        while true {
            let descriptor = reach_accept(listener)
            guard descriptor >= 0 else { return }
            guard connections.count < Self.connectionLimit else {
                close(descriptor)
                continue
            }
            connections[descriptor] = MetricsConnection(descriptor, on: loop, source) { [unowned self] in
                connections[descriptor] = nil
            }
        }
    }
}
