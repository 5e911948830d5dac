import Glibc
import ReachCore
import ReachTesting
import Testing

@testable import ReachQueueRuntime

struct MachineClockTests {
    private static let year2024: Int64 = 1_704_067_200_000_000_000

    @Test(arguments: [(-1, true), (0, false), (1, false)])
    func `a clock before 2024 was not set`(offset: Int64, isUnset: Bool) {
        #expect(MachineClock.isUnset(Timestamp(nanosecondsSince1970: Self.year2024 + offset), files: []) == isUnset)
        #expect(MachineClock.isUnset(Timestamp(nanosecondsSince1970: 0), files: ["/nonexistent"]))
    }

    @Test func `a clock before the newest file was not set`() throws {
        let directory = try TemporaryDirectory()
        let files = [try directory.file("old", ""), try directory.file("new", "")]
        for (file, second) in zip(files, [1_800_000_000, 1_900_000_000]) {
            var times = [timespec(tv_sec: second, tv_nsec: 0), timespec(tv_sec: second, tv_nsec: 0)]
            #expect(utimensat(AT_FDCWD, file, &times, 0) == 0)
        }
        for (second, isUnset) in [(1_850_000_000, true), (1_899_999_999, true), (1_900_000_000, false)]
            as [(Int64, Bool)]
        {
            let now = Timestamp(nanosecondsSince1970: second * 1_000_000_000)
            #expect(MachineClock.isUnset(now, files: files) == isUnset)
        }
    }

    @Test func `this machine's clock is believed`() { #expect(!MachineClock.isUnset()) }
}
