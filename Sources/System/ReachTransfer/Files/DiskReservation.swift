internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// Takes the room that a file will need on its disk before the bytes arrive, and leaves some of the disk free: the file
/// system itself keeps the account, so that other files and other programs count, too. Used by the thread of its file
/// alone.
struct DiskReservation: Sendable {
    let keptFree: KeptSpace
    /// The length of the whole file, if the server has sent it.
    var expected: UInt64?
    /// Up to here the file has its room.
    private var end: UInt64 = 0
    private var canReserve = true

    /// What is taken at a time where the server has not sent the length.
    private static let step: UInt64 = 1 << 20

    init(keptFree: KeptSpace, expected: UInt64?) { (self.keptFree, self.expected) = (keptFree, expected) }

    /// Takes the room for a file up to a length, and for what follows.
    ///
    /// - Parameter length: The length of the file now.
    /// - Returns: `errno`, or 0.
    mutating func cover(upTo wanted: UInt64, of descriptor: CInt, length: UInt64) -> CInt {
        guard wanted > end else { return 0 }
        let target = max(wanted, expected ?? wanted + Self.step)
        let needed = Int64(clamping: target - min(max(end, length), target))
        guard leaves(needed, on: descriptor) else { return ENOSPC }
        if canReserve, needed > 0 {
            let number = -reach_reserve(descriptor, Int(max(end, length)), Int(needed))
            guard number == 0 || number == EOPNOTSUPP || number == ENOSYS else { return number }
            canReserve = number == 0
            // Somebody else has taken room meanwhile: what was taken here is given back, but for what the file holds.
            if canReserve, !leaves(0, on: descriptor) {
                ftruncate(descriptor, Int(length))
                end = length
                return ENOSPC
            }
        }
        // Without reservations each step is looked at.
        end = canReserve ? target : wanted
        return 0
    }

    /// Gives back what the file did not need.
    func end(of descriptor: CInt, length: UInt64) { if end > length { ftruncate(descriptor, Int(length)) } }

    /// Whether enough of the disk stays free once so many bytes are taken.
    private func leaves(_ bytes: Int64, on descriptor: CInt) -> Bool {
        var status = statvfs()
        guard fstatvfs(descriptor, &status) == 0 else { return true }
        let (available, isHuge) = Int64(clamping: status.f_bavail).multipliedReportingOverflow(
            by: Int64(clamping: status.f_frsize))
        return isHuge || available - bytes >= bytesKeptFree(of: descriptor)
    }

    private func bytesKeptFree(of descriptor: CInt) -> Int64 {
        guard let device = keptFree.device else { return keptFree.bytes }
        var status = stat()
        return fstat(descriptor, &status) == 0 && UInt64(status.st_dev) != device ? 0 : keptFree.bytes
    }
}
