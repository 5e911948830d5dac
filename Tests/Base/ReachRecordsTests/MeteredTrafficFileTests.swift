import Glibc
import ReachCore
import ReachLoop
import ReachRecords
import ReachTesting
import Testing

@Suite struct MeteredTrafficFileTests {
    private let directory: TemporaryDirectory
    private let file: MeteredTrafficFile
    private static let line = #"{"v":1,"hour":5,"interface":"wwan0","class":"wwan","received":7,"sent":3}"# + "\n"

    init() throws {
        directory = try TemporaryDirectory()
        file = MeteredTrafficFile(directory: directory.path)
    }

    private static func hour(
        _ number: Int64, _ received: Int64 = 7, _ sent: Int64 = 3, interface: String = "wwan0"
    ) -> MeteredTraffic.Hour {
        MeteredTraffic.Hour(number: number, interface: interface, linkClass: "wwan", received: received, sent: sent)
    }

    @Test func `what was written is read, and whoever reads the history may read it`() throws {
        #expect(file.read() == nil)
        let traffic = MeteredTraffic([Self.hour(5), Self.hour(6, interface: "usb\"\n\u{1b}0")])
        try file.write(traffic)
        #expect(file.read() == traffic)
        var status = stat()
        #expect(stat(directory.path + "/traffic.jsonl", &status) == 0 && status.st_mode & 0o777 & ~0o644 == 0)
    }

    @Test func `an end in the middle of a write leaves the file before it, and what is left over is replaced`() throws {
        try file.write(MeteredTraffic([Self.hour(5)]))
        // As a kill leaves it: the new file is not whole, and does not have its name yet.
        try directory.file("traffic.jsonl.new", String(Self.line.dropLast(20)))
        #expect(file.read()?.hours == [Self.hour(5)])
        try file.write(MeteredTraffic([Self.hour(6)]))
        #expect(file.read()?.hours == [Self.hour(6)])
        #expect(try DirectoryNames.read(directory.path) == ["traffic.jsonl"])
        // The name may be another user's link, where the directory is not the daemon's alone.
        let victim = try directory.file("victim", "untouched")
        #expect(symlink(victim, directory.path + "/traffic.jsonl.new") == 0)
        try file.write(MeteredTraffic([Self.hour(7)]))
        #expect(SmallFile.text(victim, limit: 64) == "untouched")
    }

    /// The file is not synced, so that a loss of power can leave the beginning of it, or zeros.
    @Test(arguments: [0, 1, 40, line.utf8.count - 1])
    func `a file that was cut keeps its whole lines`(bytes: Int) throws {
        try directory.file("traffic.jsonl", Self.line + String(Self.line.prefix(bytes)))
        let whole = bytes == Self.line.utf8.count - 1 ? 2 : 1
        #expect(file.read()?.hours == Array(repeating: Self.hour(5), count: whole))
        try directory.file("traffic.jsonl", Self.line + String(repeating: "\0", count: 100))
        #expect(file.read()?.hours == [Self.hour(5)])
    }

    @Test(arguments: [
        "nonsense", "[]", "{}", #"{"v":2,"hour":5,"interface":"a","class":"wwan","received":1,"sent":1}"#,
        #"{"v":1,"hour":"5","interface":"a","class":"wwan","received":1,"sent":1}"#,
        #"{"v":1,"hour":1e99,"interface":"a","class":"wwan","received":1,"sent":1}"#,
        #"{"v":1,"hour":5,"interface":null,"class":"wwan","received":1,"sent":1}"#,
        #"{"v":1,"hour":5,"interface":"a","class":"wwan","received":-1,"sent":1}"#,
        #"{"v":1,"hour":5,"interface":"a","class":"wwan","received":1,"sent":1125899906842625}"#,
        #"{"v":1,"hour":5,"interface":"a","class":"wwan","received":9223372036854775808,"sent":1}"#,
    ])
    func `a line that the daemon would not write counts as no line`(line: String) throws {
        try directory.file("traffic.jsonl", Self.line + line + "\n" + Self.line)
        #expect(file.read()?.hours.count == 2)
    }

    @Test func `the largest numbers of a file can be summed, and counting goes on`() throws {
        let most: Int64 = 1 << 50
        let lines = (0..<3000).map {
            #"{"v":1,"hour":\#($0 % 2 == 0 ? Int64.max : Int64.min),"interface":"a","class":"wwan","received":\#(most),"sent":\#(most)}"#
        }
        try directory.file("traffic.jsonl", lines.joined(separator: "\n"))
        var traffic = try #require(file.read())
        #expect(traffic.hours.count == MeteredTraffic.mostHours)
        #expect(
            traffic.sums(from: Timestamp(nanosecondsSince1970: .min), to: Timestamp(nanosecondsSince1970: .max)) == [])
        let same = (0..<3000).map { _ in Self.hour(5, most, most) }
        try file.write(MeteredTraffic(same))
        traffic = try #require(file.read())
        let hour = Timestamp(nanosecondsSince1970: 5 * 3_600_000_000_000)
        #expect(traffic.sums(from: hour, to: hour).map(\.received) == [most * Int64(MeteredTraffic.mostHours)])
        let samples = [0, UInt64.max].map {
            MeteredTraffic.Sample(
                index: 2, interface: "wwan0", linkClass: "wwan", isMetered: true, received: $0, sent: $0)
        }
        for sample in samples { traffic.add([sample], at: hour) }
        try file.write(traffic)
        #expect(file.read()?.hours.count == MeteredTraffic.mostHours)
    }

    @Test func `a file that is too large, or a FIFO, counts as none`() throws {
        try directory.file("traffic.jsonl", String(repeating: Self.line, count: (4 << 20) / Self.line.utf8.count + 1))
        #expect(file.read()?.hours.count == nil)
        unlink(directory.path + "/traffic.jsonl")
        #expect(mkfifo(directory.path + "/traffic.jsonl", 0o600) == 0)
        #expect((file.read()?.hours ?? []) == [])
    }
}
