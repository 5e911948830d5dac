import Foundation
import ReachCore
import ReachRecords
import ReachLoop
import ReachRecords
import Testing

@Suite struct ProbeArchiveFileTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "reach-archive-\(UUID())").path
    private var path: String { directory + "/archive/web.rows" }
    private var file: ProbeArchiveFile { ProbeArchiveFile(directory: directory, probe: "web") }

    init() throws { try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true) }

    private static func row(_ level: ArchiveLevel, _ slot: UInt32, ok: Int = 30_000) -> ArchiveRow {
        var row = ArchiveRow(level, slot: slot)
        (row.ok, row.answered, row.least, row.mean, row.most) = (ok, 2, 1000, 2000, 3000)
        return row
    }

    private static func slot(_ level: ArchiveLevel) -> UInt32 { level.slot(of: 1_795_780_800) }

    @Test func `a row is written, added to, and replaced when its place comes again`() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        #expect(file.read() == nil && ProbeArchiveFile.probes(in: directory).isEmpty)
        let slot = Self.slot(.minutes)
        try file.add(ArchiveLevel.allCases.map { Self.row($0, Self.slot($0)) }, target: "http://a.example/")
        try file.add([Self.row(.minutes, slot, ok: 20_000)], target: "https://a.example/")
        let archive = try #require(file.read())
        #expect(archive.probe == "web" && archive.target == "https://a.example/")
        #expect(archive.rows[.minutes]?.map(\.ok) == [50_000] && archive.rows[.minutes]?.first?.answered == 4)
        #expect(archive.rows[.twoHours]?.map(\.slot) == [Self.slot(.twoHours)])
        let later = slot + UInt32(ArchiveLevel.minutes.capacity)
        try file.add([Self.row(.minutes, later)], target: "https://a.example/")
        #expect(file.read()?.rows[.minutes]?.map(\.slot) == [later])
        #expect(ProbeArchiveFile.probes(in: directory) == ["web"])
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.size] as? Int == 1 << 20)
    }

    @Test func `years fit in a MiB, and the oldest rows go`() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let first = Self.slot(.twoHours)
        let count = UInt32(ArchiveLevel.twoHours.capacity) + 50
        try file.add((0..<count).map { Self.row(.twoHours, first + $0) }, target: "")
        let rows = try #require(file.read()?.rows[.twoHours])
        #expect(rows.count == ArchiveLevel.twoHours.capacity)
        #expect(rows.first?.slot == first + 50 && rows.last?.slot == first + count - 1)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == 1 << 20)
    }

    @Test func `a row that is torn is the one before, the new one, or none`() throws {
        let slot = Self.slot(.minutes)
        let (old, new) = (Self.row(.minutes, slot - 2880), Self.row(.minutes, slot, ok: 12_345))
        #expect(old.bytes.count == ArchiveRow.size && ArchiveRow(old.bytes[...], .minutes) == old)
        for cut in 0...ArchiveRow.size {
            let torn = new.bytes.prefix(cut) + old.bytes.dropFirst(cut)
            let read = ArchiveRow(ArraySlice(Array(torn)), .minutes)
            #expect(read == nil || read == old || read == new, "\(cut)")
        }
        #expect(ArchiveRow([UInt8](repeating: 0, count: 32)[...], .minutes) == nil)
        #expect(ArchiveRow([UInt8](repeating: 0xff, count: 32)[...], .minutes) == nil)
    }

    @Test func `another file in its place is kept aside, and damage costs only the rows that it hits`() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try file.add(
            [Self.row(.minutes, Self.slot(.minutes)), Self.row(.tenMinutes, Self.slot(.tenMinutes))], target: "")
        var bytes = try Data(contentsOf: URL(filePath: path))
        let place = 4096 + ArchiveLevel.minutes.place(of: Self.slot(.minutes)) * ArchiveRow.size
        bytes[place + 5] ^= 1
        try bytes.write(to: URL(filePath: path))
        #expect(file.read()?.rows[.minutes]?.isEmpty == true && file.read()?.rows[.tenMinutes]?.count == 1)
        try Data("short".utf8).write(to: URL(filePath: path))
        #expect(file.read() == nil)
        try file.add([Self.row(.minutes, Self.slot(.minutes))], target: "")
        #expect(file.read()?.rows[.minutes]?.count == 1)
        #expect(try Data(contentsOf: URL(filePath: path + ".damaged")) == Data("short".utf8))
        // A link is not followed.
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: directory + "/elsewhere")
        #expect(throws: SystemError.self) { try file.add([Self.row(.minutes, Self.slot(.minutes))], target: "") }
        #expect(!FileManager.default.fileExists(atPath: directory + "/elsewhere"))
    }

    @Test func `a sum has no more than the time of its row`() {
        var (left, right) = (ArchiveRow(.minutes, slot: 1), ArchiveRow(.minutes, slot: 1))
        (left.ok, left.fail, left.answered, left.failed, left.lost) = (50_000, 5000, 60_000, 2, 100)
        (right.ok, right.fail, right.paused, right.answered, right.lost) = (50_000, 5000, 9000, 60_000, 300)
        let sum = left.adding(right)
        #expect(sum.fail == 10_000 && sum.ok == 50_000 && sum.paused == 0 && sum.answered == 65_535)
        #expect((199...200).contains(sum.lost) && sum == right.adding(left))
    }
}
