import Foundation
import ReachLoop
import ReachTesting

@testable import ReachControl

/// A server in place of the daemon that sends each client the same bytes, chosen by the test, once the client has sent
/// something.
final class FakeDaemon: Sendable {
    enum Ending: Sendable {
        case hangUp, stayOpen
    }

    let directory: TemporaryDirectory
    let path: String
    private let descriptor: CInt
    /// What clients have sent.
    let calls = EventLog<String>()

    convenience init(_ bytes: [UInt8], then ending: Ending = .stayOpen) throws {
        try self.init(replies: [bytes], then: ending)
    }

    /// - Parameter replies: Each client gets one for each call.
    init(replies: [[UInt8]], then ending: Ending = .stayOpen) throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/s"
        descriptor = try UnixAddress.socket(isBlocking: true)
        guard let address = UnixAddress(path) else { throw ControlError.badPath(path) }
        try address.bind(descriptor)
        listen(descriptor, 16)
        BackgroundThread.start(named: "fake-daemon") { [descriptor, calls] in
            while case let client = accept(descriptor, nil, nil), client >= 0 {
                BackgroundThread.start(named: "fake-daemon") { Self.serve(client, replies, calls, ending) }
            }
        }
    }

    /// Stops accepting. A `defer` that calls this also keeps the object alive.
    func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    private static func serve(_ client: CInt, _ replies: [[UInt8]], _ calls: EventLog<String>, _ ending: Ending) {
        defer { close(client) }
        var input = [UInt8](repeating: 0, count: 4096)
        for bytes in replies {
            let count = recv(client, &input, input.count, 0)
            guard count > 0 else { return }
            calls.append(String(decoding: input[..<count], as: UTF8.self))
            var sent = 0
            while sent < bytes.count {
                let result = bytes[sent...].withUnsafeBytes {
                    send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard result > 0 else { return }
                sent += result
            }
        }
        // Stays open until the client hangs up.
        if case .stayOpen = ending { while recv(client, &input, input.count, 0) > 0 {} }
    }
}
