import Glibc
import ReachCore
import ReachLoop
import ReachTesting
import Synchronization

/// A name server with answers of a test: by datagrams and by TCP, on one port.
final class HostileNameServer: Sendable {
    struct Query: Sendable {
        let bytes: [UInt8]
        let isStream: Bool
        /// The port it came from.
        let port: UInt16

        var id: [UInt8] { Array(bytes[0..<2]) }
        var hasExtensions: Bool { bytes[11] != 0 }
        /// The name, its type and class, as in the message.
        var question: [UInt8] {
            var end = 12
            while bytes[end] != 0 { end += Int(bytes[end]) + 1 }
            return Array(bytes[12..<(end + 5)])
        }
        var firstLabel: String { String(decoding: bytes[13..<(13 + Int(bytes[12]))], as: UTF8.self) }
        var type: Int { Int(question[question.count - 3]) }

        /// A response to it: flags, the three counts of records, and their bytes; the name is at offset 12.
        func answer(
            code: UInt8 = 0, flags: UInt8 = 0x81, answers: Int = 0, authorities: Int = 0, _ records: [UInt8] = [],
            id: [UInt8]? = nil, question: [UInt8]? = nil
        ) -> [UInt8] {
            let counts = [0, 1, UInt8(answers >> 8), UInt8(answers & 255), 0, UInt8(authorities), 0, 0]
            return (id ?? self.id) + [flags, 0x80 | code] + counts + (question ?? self.question) + records
        }
    }

    /// A record about the name at an offset.
    static func record(at offset: UInt8 = 12, type: UInt8, seconds: [UInt8] = [0, 0, 0, 60], _ data: [UInt8]) -> [UInt8]
    {
        [0xc0, offset, 0, type, 0, 1] + seconds + [UInt8(data.count >> 8), UInt8(data.count & 255)] + data
    }

    static func address(_ last: UInt8, seconds: [UInt8] = [0, 0, 0, 60]) -> [UInt8] {
        record(type: 1, seconds: seconds, [192, 0, 2, last])
    }

    let port: UInt16
    private let queries = Mutex<[Query]>([])
    private let stopped = Atomic<Bool>(false)
    private let ended = ThreadGate()

    /// Answers that are sent later.
    private struct Late {
        let time: BootTime
        let answers: [[UInt8]]
        let client: sockaddr_in
    }

    private let delay: Duration

    /// - Parameters:
    ///   - address: In the namespace of this thread.
    ///   - wanted: The port; 0 for any.
    ///   - delay: The time between a datagram and the answer to it.
    ///   - answers: The messages to send back, in order; an empty one is a datagram without bytes.
    init(
        on address: IPAddress = IPAddress(ipv4: 0x7f00_0001), port wanted: UInt16 = 0, delay: Duration = .zero,
        _ answers: @escaping @Sendable (Query) -> [[UInt8]]
    ) throws {
        let (datagrams, listener, port) = try Self.open(address, wanted)
        self.port = port
        self.delay = delay
        let server = self
        BackgroundThread.start(named: "test-names") { server.serve(datagrams, listener, answers) }
    }

    /// Must be called at the end: until then the thread keeps the server.
    func stop() {
        stopped.store(true, ordering: .relaxed)
        ended.wait()
    }

    var received: [Query] { queries.withLock { $0 } }

    private struct NoPort: Error {}

    /// Opens sockets for datagrams and for TCP at one port. One that is free for datagrams may be another program's for
    /// TCP.
    private static func open(
        _ address: IPAddress, _ wanted: UInt16
    ) throws -> (datagrams: CInt, listener: CInt, port: UInt16) {
        for _ in 0..<100 {
            let datagrams = socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
            let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            if let port = bind(listener, address, wanted), bind(datagrams, address, port) != nil,
                listen(listener, 200) == 0
            {
                return (datagrams, listener, port)
            }
            close(datagrams)
            close(listener)
        }
        throw NoPort()
    }

    private static func bind(_ socket: CInt, _ own: IPAddress, _ port: UInt16) -> UInt16? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: own.bytes) }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                guard Glibc.bind(socket, generic, length) == 0, getsockname(socket, generic, &length) == 0 else {
                    return nil
                }
                return generic.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    UInt16(bigEndian: $0.pointee.sin_port)
                }
            }
        }
    }

    private func serve(
        _ datagrams: CInt, _ listener: CInt, _ answers: @escaping @Sendable (Query) -> [[UInt8]]
    ) {
        defer {
            close(datagrams)
            close(listener)
            ended.open()
        }
        var ready = [
            pollfd(fd: datagrams, events: Int16(POLLIN), revents: 0),
            pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
        ]
        var late: [Late] = []
        while !stopped.load(ordering: .relaxed) {
            let isReady = poll(&ready, 2, 20) > 0
            let now = SystemClock.boot
            for due in late where due.time <= now { send(due.answers, to: due.client, by: datagrams) }
            late.removeAll { $0.time <= now }
            guard isReady else { continue }
            if ready[0].revents != 0 { late += answerDatagram(datagrams, answers) }
            if ready[1].revents != 0 { answerStream(listener, answers) }
        }
    }

    /// - Returns: What is to be sent later.
    private func answerDatagram(_ socket: CInt, _ answers: (Query) -> [[UInt8]]) -> [Late] {
        var buffer = [UInt8](repeating: 0, count: 1500)
        var from = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = withUnsafeMutablePointer(to: &from) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                recvfrom(socket, &buffer, buffer.count, 0, $0, &length)
            }
        }
        guard count > 12 else { return [] }
        let query = Query(bytes: Array(buffer.prefix(count)), isStream: false, port: UInt16(bigEndian: from.sin_port))
        queries.withLock { $0.append(query) }
        if delay > .zero { return [Late(time: SystemClock.boot + delay, answers: answers(query), client: from)] }
        send(answers(query), to: from, by: socket)
        return []
    }

    private func send(_ answers: [[UInt8]], to client: sockaddr_in, by socket: CInt) {
        var client = client
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &client) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                for answer in answers { sendto(socket, answer, answer.count, 0, generic, length) }
            }
        }
    }

    /// Answers the queries of a connection, on a thread of its own.
    private func answerStream(_ listener: CInt, _ answers: @escaping @Sendable (Query) -> [[UInt8]]) {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        let server = self
        BackgroundThread.start(named: "test-names") {
            defer { close(connection) }
            var (bytes, buffer): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 1500))
            while case let count = recv(connection, &buffer, buffer.count, 0), count > 0 {
                bytes += buffer.prefix(count)
                while bytes.count > 14, case let end = 2 + Int(bytes[0]) << 8 + Int(bytes[1]), bytes.count >= end {
                    let query = Query(bytes: Array(bytes[2..<end]), isStream: true, port: 0)
                    bytes.removeFirst(end)
                    server.queries.withLock { $0.append(query) }
                    for answer in answers(query) { Self.send(answer, by: connection) }
                }
            }
        }
    }

    private static func send(_ answer: [UInt8], by connection: CInt) {
        var message = [UInt8(answer.count >> 8), UInt8(answer.count & 255)] + answer
        while !message.isEmpty, case let sent = Glibc.send(connection, message, message.count, CInt(MSG_NOSIGNAL)),
            sent > 0
        {
            message.removeFirst(sent)
        }
    }
}

/// Counts calls from any thread.
final class ThreadCounter: Sendable {
    private let count = Atomic<Int>(0)

    /// The number of calls before this one.
    func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
}
