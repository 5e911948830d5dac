internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop

/// The socket on which systemd's journal takes messages with fields: its native protocol
/// (systemd.io/JOURNAL_NATIVE_PROTOCOL).
///
/// Each message is one datagram, sent to the path anew, so that a journal that was restarted gets the next one. Any
/// thread may send.
final class JournalSocket: Sendable {
    private let descriptor: CInt
    private let address: UnixAddress

    static let usualPath = "/run/systemd/journal/socket"

    /// - Returns: `nil` where no socket can be made, or the path is too long for one.
    init?(path: String = usualPath) {
        guard let address = UnixAddress(path) else { return nil }
        self.address = address
        descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Sends a message without waiting.
    ///
    /// - Returns: Whether the journal has it. It may be away, slow, or the message too long for a datagram.
    func send(_ message: LogMessage) -> Bool { address.send(Self.datagram(message), from: descriptor) }

    /// The fields of a message. `MESSAGE` is the line of a log without the priority, so that nothing is missing where
    /// only messages are shown.
    static func datagram(_ message: LogMessage) -> [UInt8] {
        let line = LogFormat.text(of: message)
        var bytes: [UInt8] = []
        append("MESSAGE", line, &bytes)
        append("PRIORITY", "\(message.level.priority)", &bytes)
        append("SYSLOG_IDENTIFIER", "reachd", &bytes)
        if let event = message.event { append("MESSAGE_ID", event.rawValue, &bytes) }
        var names: Set<String> = []
        for field in message.fields + message.journalFields {
            let name = "REACH_" + self.name(field.key)
            if names.insert(name).inserted { append(name, field.value, &bytes) }
        }
        return bytes
    }

    /// Capital letters, digits and underscores, as the journal admits them.
    private static func name(_ key: String) -> String {
        key.uppercased().unicodeScalars.reduce(into: "") { name, scalar in
            let isPlain = scalar.isASCII && (scalar.isLetter || scalar.isDigit)
            name.unicodeScalars.append(isPlain ? scalar : "_")
        }
    }

    private static func append(_ name: String, _ value: String, _ bytes: inout [UInt8]) {
        bytes += name.utf8
        if value.utf8.contains(UInt8(ascii: "\n")) {
            // A newline would end the field: such a value is preceded by its length, 64 bits with the lowest first.
            bytes.append(UInt8(ascii: "\n"))
            withUnsafeBytes(of: UInt64(value.utf8.count).littleEndian) { bytes += $0 }
        } else {
            bytes.append(UInt8(ascii: "="))
        }
        bytes += value.utf8
        bytes.append(UInt8(ascii: "\n"))
    }
}
