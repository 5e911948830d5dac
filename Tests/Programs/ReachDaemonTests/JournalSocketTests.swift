import Glibc
import Logging
import ReachCore
import ReachTesting
import Testing

@testable import ReachDaemon

/// What systemd's journal gets: messages with fields, by its native protocol.
@Suite struct JournalSocketTests {
    /// A socket as the journal has one.
    private final class Receiver {
        let path: String
        private let descriptor: CInt
        private let directory: TemporaryDirectory

        init() throws {
            directory = try TemporaryDirectory()
            path = directory.path + "/socket"
            descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let bound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(bound == 0)
        }

        deinit { close(descriptor) }

        /// The next datagram, which is there already.
        func next() -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 65_536)
            let count = recv(descriptor, &bytes, bytes.count, CInt(MSG_DONTWAIT))
            return Array(bytes.prefix(max(0, count)))
        }

        func fields() -> [String] { String(decoding: next(), as: UTF8.self).split(separator: "\n").map(String.init) }
    }

    @Test func `the journal gets a message with its event, its priority and fields that the line does not show`() throws
    {
        let receiver = try Receiver()
        let logger = Log(level: .info, journal: receiver.path).logger
        logger.notice(
            "the Internet is lost: eth0 has no carrier",
            metadata: LoggedEvent.internetLost.metadata(
                ["target": "internet", "cause": "no-carrier"], shown: ["layer": "link"]))
        #expect(
            receiver.fields() == [
                "MESSAGE=the Internet is lost: eth0 has no carrier layer=link", "PRIORITY=5",
                "SYSLOG_IDENTIFIER=reachd", "MESSAGE_ID=\(LoggedEvent.internetLost.rawValue)", "REACH_LAYER=link",
                "REACH_TARGET=internet", "REACH_CAUSE=no-carrier",
            ])
    }

    @Test func `a value of several lines is preceded by its length, and cannot forge a field`() throws {
        let receiver = try Receiver()
        Log(level: .info, journal: receiver.path).logger.info("one", metadata: ["root-cause": "a\nPRIORITY"])
        let start =
            #"MESSAGE=one root-cause=a\u{a}PRIORITY"# + "\nPRIORITY=6\nSYSLOG_IDENTIFIER=reachd\nREACH_ROOT_CAUSE\n"
        let value = "a\nPRIORITY"
        let length = [UInt8(value.utf8.count), 0, 0, 0, 0, 0, 0, 0]
        #expect(receiver.next() == Array(start.utf8) + length + Array((value + "\n").utf8))
    }

    @Test func `what the journal does not take is a line of standard error`() throws {
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { ends.forEach { close($0) } }
        let log = Log(level: .info, format: .journal, descriptor: ends[1], journal: "/nonexistent/socket")
        log.logger.warning("one", metadata: LoggedEvent.probe.metadata(["probe": "till"]))
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(ends[0], &bytes, bytes.count)
        #expect(String(decoding: bytes.prefix(count), as: UTF8.self) == "<4>one\n")
    }

    @Test func `the catalogue explains each event, and no other`() {
        let catalogue = ProjectFile.text("contrib/systemd/reachd.catalog").split(separator: "\n")
        let named = catalogue.filter { $0.hasPrefix("-- ") }.map { String($0.dropFirst(3)) }
        #expect(named == LoggedEvent.allCases.map(\.rawValue))
        #expect(catalogue.count { $0.hasPrefix("Subject: ") } == named.count)
    }
}
