import Glibc
import ReachControl
import ReachCore
import ReachLoop
import ReachTesting
import Synchronization

/// The daemon's control socket with a journal in memory: what the agent calls, and nothing else.
///
/// A thread serves each connection.
final class FakeDaemon: Sendable {
    private struct State: Sendable {
        var log = "0123456789abcdef0123456789abcdef"
        var lines: [String] = []
        var connections: [CInt] = []
        var followers: [(descriptor: CInt, after: Int)] = []
    }

    let path: String
    /// Why it hands out no events; `nil` if it does.
    private let refusal: String?
    private let state = Mutex(State())
    private let listener: CInt

    /// What the daemon says whose configuration names no events.
    static let noJournal = "this daemon keeps no journal: [journal] events names none"

    init(at path: String, refusing refusal: String? = nil) throws {
        self.path = path
        self.refusal = refusal
        unlink(path)
        listener = Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.utf8.count + 1)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, length) }
        }
        guard bound == 0, listen(listener, 16) == 0 else { throw SystemError(call: "bind \(path)") }
        let socket = listener
        BackgroundThread.start(named: "fake daemon") { [weak self] in
            while true {
                let connection = accept(socket, nil, nil)
                guard connection >= 0, let self else { return }
                self.state.withLock { $0.connections.append(connection) }
                BackgroundThread.start(named: "fake client") { [weak self] in self?.serve(connection) }
            }
        }
    }

    func stop() {
        shutdown(listener, CInt(SHUT_RDWR))
        close(listener)
        for connection in state.withLock({ $0.connections }) { shutdown(connection, CInt(SHUT_RDWR)) }
    }

    /// Writes an event into the journal.
    ///
    /// - Returns: Its number.
    @discardableResult
    func record() -> Int {
        let now = SystemClock.now
        return state.withLock { state in
            let number = state.lines.count + 1
            state.lines.append(
                """
                {"v":1,"type":"wake","time":"\(now.wall)","boottime_ns":\(now.boot.nanoseconds),\
                "boot":"\(BootIdentity.current)","log":"\(state.log)","n":\(number),"slept_ms":\(number),\
                "secret":"host.example"}
                """)
            for index in state.followers.indices { Self.feed(&state.followers[index], state) }
            return number
        }
    }

    // MARK: - Calls

    private func serve(_ connection: CInt) {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(connection, &piece, piece.count)
            guard count > 0 else { return }
            bytes += piece[..<count]
            while let end = bytes.firstIndex(of: 0) {
                if let call = try? JSONReader.read(Array(bytes[..<end])) { answer(call, connection) }
                bytes.removeSubrange(...end)
            }
        }
    }

    private func answer(_ call: JSONValue, _ connection: CInt) {
        switch call["method"]?.string {
        case "io.reach.Monitor.Watch":
            var reachable = ReachabilityState(target: .internet, since: SystemClock.now.wall)
            reachable.status = .reachable
            reachable.linkClass = .wired
            var stream = EventStream(source: .daemon)
            let event = stream.snapshot(reachable, isInitial: true, cause: .start, at: SystemClock.now)
            let text = String(decoding: event.dropLast(), as: UTF8.self)
            Self.send("{\"parameters\":{\"event\":\(text)},\"continues\":true}", connection)
        case "io.reach.Monitor.Journal" where refusal != nil:
            Self.send(
                "{\"error\":\"io.reach.Monitor.NotAvailable\",\"parameters\":{\"reason\":\"\(refusal ?? "")\"}}",
                connection)
        case "io.reach.Monitor.Journal":
            let after = Int(call["parameters"]?["after"]?.integer ?? 0)
            state.withLock { state in
                var follower = (descriptor: connection, after: after)
                Self.feed(&follower, state, isFirst: true)
                state.followers.append(follower)
            }
        default: Self.send("{\"error\":\"io.reach.Monitor.NotAvailable\",\"parameters\":{\"reason\":\"\"}}", connection)
        }
    }

    private static func feed(_ follower: inout (descriptor: CInt, after: Int), _ state: State, isFirst: Bool = false) {
        var isFirst = isFirst
        while isFirst || follower.after < state.lines.count {
            isFirst = false
            let page = state.lines[min(follower.after, state.lines.count)...].prefix(100)
            follower.after = max(follower.after, page.endIndex)
            let isComplete = follower.after >= state.lines.count
            send(
                """
                {"parameters":{"events":[\(page.joined(separator: ","))],"log":"\(state.log)","next":\(follower.after),\
                "current":"\(state.log)","last":\(state.lines.count),"complete":\(isComplete)},"continues":true}
                """, follower.descriptor)
        }
    }

    private static func send(_ text: String, _ connection: CInt) {
        let bytes = Array(text.utf8) + [0]
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }
}
