import Glibc
import ReachCore
import ReachLoop
import ReachTesting
import Synchronization
import Testing

@testable import ReachDaemon

@Suite(.serialized) struct MetricsServerTests {
    /// A connection to a port on 127.0.0.1 that sends nothing before ``ask()``.
    private final class Visitor {
        let descriptor: CInt

        init?(_ port: UInt16) {
            descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            var limit = timeval(tv_sec: 20, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            let result = withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard result == 0 else { return nil }
        }

        deinit { close(descriptor) }

        func ask() -> String {
            let request = Array("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
            guard send(descriptor, request, request.count, CInt(MSG_NOSIGNAL)) == request.count else { return "" }
            var (text, piece) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
            while case let count = recv(descriptor, &piece, piece.count, 0), count > 0 { text += piece[..<count] }
            return String(decoding: text, as: UTF8.self)
        }
    }

    /// Many silent connections, and a few requests next to them.
    private final class Visits: Sendable {
        let answers = Mutex<[String]>([])

        func make(_ port: UInt16, _ mailbox: Mailbox) {
            let silent = (0..<200).compactMap { _ in Visitor(port) }
            for _ in 0..<3 {
                let answer = Visitor(port)?.ask() ?? ""
                answers.withLock { $0.append(answer) }
            }
            _ = withExtendedLifetime(silent) { mailbox.post { $0.stop() } }
        }
    }

    @Test func `silent connections do not block requests`() throws {
        let port = try TestProgram.freePort()
        let address = ListenAddress("127.0.0.1:\(port)")
        let loop = try EventLoop()
        let publisher = MetricsPublisher(on: loop) { MetricsSnapshot(version: "1.2.3") }
        var metrics = Configuration.Metrics()
        metrics.listen = address
        publisher.apply(metrics)
        let mailbox = loop.mailbox
        let visits = Visits()
        BackgroundThread.start(named: "test-visitors") { visits.make(port, mailbox) }
        loop.schedule(at: SystemClock.boot + .seconds(60)) { loop.stop() }
        loop.run()
        publisher.stop()
        let answers = visits.answers.withLock { $0 }
        #expect(answers.count == 3)
        for answer in answers { #expect(answer.contains("reach_build_info")) }
    }
}
