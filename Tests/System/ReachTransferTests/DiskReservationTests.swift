import Glibc
import ReachLoop
import ReachTesting
import Testing

@testable import ReachTransfer

/// How files take their room on a disk of 8 MiB, of which 1 MiB is to stay free.
@Suite struct DiskReservationTests {
    private static let mebibyte: UInt64 = 1 << 20

    private let temporary: TemporaryDirectory
    private var mountPoint: String { temporary.path + "/small" }

    init() throws { temporary = try TemporaryDirectory() }

    private func mount() -> Bool {
        mkdir(mountPoint, 0o700)
        if Glibc.mount("tmpfs", mountPoint, "tmpfs", 0, "size=8m") == 0 { return true }
        print("skipped: a small file system cannot be mounted: \(String(cString: strerror(errno)))")
        return false
    }

    private func free() throws -> Int64 { try DiskSpace.measure(at: mountPoint).available }

    private func file(
        _ name: String, expecting bytes: UInt64?, keepingFreeOn device: UInt64? = nil
    ) -> (file: FileHandOff, number: CInt) {
        let file = FileHandOff()
        let kept = KeptSpace(bytes: Int64(Self.mebibyte), device: device)
        let reservation = DiskReservation(keptFree: kept, expected: bytes)
        return (file, file.create(mountPoint + "/" + name, keep: 0, reservation: reservation))
    }

    @Test func `a file has its room before its bytes arrive, and what does not fit is refused before any of it`() throws
    {
        guard mount() else { return }
        defer { umount2(mountPoint, CInt(MNT_DETACH)) }
        let first = file("first", expecting: 5 * Self.mebibyte)
        #expect(first.number == 0)
        let left = try free()
        #expect(left < 3 * Int64(Self.mebibyte) + 4096)
        let second = file("second", expecting: 3 * Self.mebibyte)
        #expect(second.number == ENOSPC)
        #expect(try free() == left, "it has given back what it took")
        let third = file("third", expecting: Self.mebibyte)
        #expect(third.number == 0)
        #expect(first.file.append([[UInt8](repeating: 1, count: 1000)]) == 0)
        // Shorter than the server said: the rest is given back.
        first.file.close()
        #expect(try free() > 5 * Int64(Self.mebibyte))
        var status = stat()
        #expect(stat(mountPoint + "/first", &status) == 0 && status.st_size == 1000)
        third.file.close()
    }

    @Test func `what stays free stays free of its own disk, and another one may be filled, but not twice`() throws {
        guard mount() else { return }
        defer { umount2(mountPoint, CInt(MNT_DETACH)) }
        let other = KeptSpace(bytes: 0, onDiskOf: temporary.path).device
        let own = KeptSpace(bytes: 0, onDiskOf: mountPoint).device
        #expect(other != nil && own != nil && other != own)
        let bytes = 15 * Self.mebibyte / 2
        #expect(file("kept", expecting: bytes, keepingFreeOn: own).number == ENOSPC)
        let (file, number) = file("filled", expecting: bytes, keepingFreeOn: other)
        let left = try free()
        #expect(number == 0 && left < Int64(Self.mebibyte))
        #expect(self.file("second", expecting: Self.mebibyte, keepingFreeOn: other).number == ENOSPC)
        file.close()
    }

    @Test func `a file whose length is not known takes its room as it grows, and stops before the disk is full`() throws
    {
        guard mount() else { return }
        defer { umount2(mountPoint, CInt(MNT_DETACH)) }
        let (file, number) = file("chunked", expecting: nil)
        #expect(number == 0)
        var (lowest, result): (Int64, CInt) = (.max, 0)
        for _ in 0..<1000 where result == 0 {
            result = file.append([[UInt8](repeating: 2, count: 64 << 10)])
            lowest = min(lowest, try free())
        }
        #expect(result == ENOSPC && lowest >= Int64(Self.mebibyte))
    }
}
