internal import CReachLinux
internal import Glibc
internal import ReachCore
package import ReachLoop

/// One question to one server, by a datagram or by TCP, over a socket of its own: so the kernel chooses a new random port
/// each time, and takes answers from that server alone. Confined to the loop.
package final class DNSExchange {
    package enum Outcome {
        case response(DNSResponse)
        /// `errno`: nothing was sent, or the server's machine refused it.
        case failed(CInt)
    }

    package enum Transport {
        case datagram
        case stream
    }

    private let loop: EventLoop
    private let query: DNSQuery
    private let transport: Transport
    private let completion: (Outcome) -> Void
    private var descriptor: CInt = -1
    /// By TCP: what is not sent yet, and what came so far.
    private var unsent: [UInt8] = []
    private var received: [UInt8] = []

    /// - Parameter completion: Called once, later. Silence is the caller's to notice.
    package init(
        loop: EventLoop, query: DNSQuery, server: ResolverConfiguration.Server, interface: InterfaceBinding?,
        transport: Transport, completion: @escaping (Outcome) -> Void
    ) {
        self.loop = loop
        self.query = query
        self.transport = transport
        self.completion = completion
        do throws(SystemError) {
            try send(to: server, by: interface)
        } catch {
            let number = error.number
            loop.afterEvents { [weak self] in self?.end(.failed(number)) }
        }
    }

    deinit { close() }

    /// The completion is not called.
    package func close() {
        guard descriptor >= 0 else { return }
        loop.unwatch(descriptor)
        Glibc.close(descriptor)
        descriptor = -1
    }

    private var isOver = false

    private func end(_ outcome: Outcome) {
        guard !isOver else { return }
        isOver = true
        close()
        completion(outcome)
    }

    private func send(
        to server: ResolverConfiguration.Server, by interface: InterfaceBinding?
    ) throws(SystemError) {
        let scope = server.zone.map { if_nametoindex($0) } ?? 0
        let address = SocketAddress(address: server.address, port: server.port, scope: scope)
        let descriptor =
            transport == .datagram ? reach_datagram_socket(address.family) : reach_stream_socket(address.family)
        guard descriptor >= 0 else { throw SystemError(call: "socket", number: -descriptor) }
        self.descriptor = descriptor
        // A server on this machine, such as systemd-resolved's, is reached by the loopback interface alone.
        if let interface, !server.address.isLoopback { try InterfaceSocket.bind(descriptor, to: interface) }
        let result = address.withPointer { connect(descriptor, $0, $1) }
        if result != 0, errno != EINPROGRESS { throw SystemError(call: "connect") }
        switch transport {
        case .datagram:
            let bytes = query.encoded
            _ = try SystemError.check("send") {
                Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) < 0 ? -1 : 0
            }
            try loop.watch(descriptor, for: .readable) { [weak self] _ in self?.readDatagrams() }
        case .stream:
            let bytes = query.encoded
            unsent = [UInt8(bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes
            try loop.watch(descriptor, for: .writable) { [weak self] _ in self?.moveStream() }
        }
    }

    private func readDatagrams() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while descriptor >= 0 {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0 {
                if errno == EAGAIN || errno == EINTR { return }
                return end(.failed(errno))
            }
            // What does not answer the question is somebody's mistake, or trick: the answer may still come.
            if let response = try? DNSResponse(Array(buffer.prefix(count))), response.answers(query) {
                return end(.response(response))
            }
        }
    }

    private func moveStream() {
        if !unsent.isEmpty {
            let count = Glibc.send(descriptor, unsent, unsent.count, CInt(MSG_NOSIGNAL))
            if count < 0 { return errno == EAGAIN ? () : end(.failed(errno)) }
            unsent.removeFirst(count)
            if unsent.isEmpty { try? loop.change(descriptor, to: .readable) }
            return
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0 { return errno == EAGAIN ? () : end(.failed(errno)) }
        received += buffer.prefix(count)
        let size = received.count >= 2 ? Int(received[0]) << 8 | Int(received[1]) : .max
        if received.count - 2 >= size {
            let response = try? DNSResponse(Array(received[2..<(2 + size)]))
            return end(response.flatMap { $0.answers(query) ? .response($0) : nil } ?? .failed(EBADMSG))
        }
        if count == 0 { end(.failed(ECONNRESET)) }
    }
}
