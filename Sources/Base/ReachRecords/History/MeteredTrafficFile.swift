internal import Glibc
internal import ReachCore
package import ReachLoop

/// The file with the bytes of metered links: `traffic.jsonl` in the directory of the history, an object for each hour
/// and link. It is replaced as a whole. A line that cannot be read counts as no line.
package struct MeteredTrafficFile: Sendable {
    private let path: String

    /// Beyond this size nothing is read: it is not the daemon's file.
    private static let sizeLimit = 4 << 20

    package init(directory: String) { path = directory + "/traffic.jsonl" }

    /// Blocks on the disk.
    ///
    /// - Returns: `nil` if there is no file that can be read.
    package func read() -> MeteredTraffic? {
        guard let text = SmallFile.text(path, limit: Self.sizeLimit + 1), text.utf8.count <= Self.sizeLimit else {
            return nil
        }
        let bytes = 0...MeteredTraffic.mostBytes
        let hours = text.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line -> MeteredTraffic.Hour? in
            guard let json = try? JSONReader.read(Array(line)), json["v"]?.integer == 1,
                let number = json["hour"]?.integer, let interface = json["interface"]?.string,
                let linkClass = json["class"]?.string, let received = json["received"]?.integer,
                let sent = json["sent"]?.integer, bytes ~= received, bytes ~= sent
            else { return nil }
            return MeteredTraffic.Hour(
                number: number, interface: interface, linkClass: linkClass, received: received, sent: sent)
        }
        return MeteredTraffic(hours)
    }

    /// Blocks on the disk. Whoever may read the history may read the file.
    package func write(_ traffic: MeteredTraffic) throws(SystemError) {
        var writer = JSONWriter()
        for hour in traffic.hours {
            writer.object { json in
                json.field("v", 1)
                json.field("hour", hour.number)
                json.field("interface", hour.interface as String?)
                json.field("class", hour.linkClass as String?)
                json.field("received", hour.received)
                json.field("sent", hour.sent)
            }
            writer.newline()
        }
        try AtomicFile.replace(path, with: writer.bytes, mode: 0o644, isSynced: false)
    }
}
