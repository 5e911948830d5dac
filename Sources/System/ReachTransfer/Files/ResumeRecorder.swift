internal import Glibc
internal import ReachCore
internal import ReachLoop

/// Keeps a ``ResumeRecord`` next to a download's file, on the thread for files.
struct ResumeRecorder: Sendable {
    /// The path of the record.
    let path: String
    /// The resource's strong entity tag; without one there is no record.
    let entityTag: String?
    /// The number of bytes of the resource, if it is known.
    let total: UInt64?
    /// The least time between two syncs of the file.
    let interval: Duration
    private var last: BootTime?

    init(path: String, entityTag: String?, total: UInt64? = nil, interval: Duration) {
        self.path = path
        self.entityTag = entityTag
        self.total = total
        self.interval = interval
    }

    /// Removes the record of an earlier download before its file is overwritten: even after a power loss, no record may
    /// cover bytes of another download.
    ///
    /// - Returns: `errno`, or 0.
    func removeOld() -> CInt {
        guard unlink(path) == 0 else { return errno == ENOENT ? 0 : errno }
        return DiskSync.wait(forNameOf: path)
    }

    /// Syncs the file and writes the record, if the interval has passed.
    ///
    /// - Parameters:
    ///   - file: Its descriptor.
    ///   - count: Its length.
    /// - Returns: `errno`, or 0. A record that cannot be written is no failure: the previous one remains valid.
    mutating func note(_ count: UInt64, of file: CInt, at now: BootTime) -> CInt {
        guard let entityTag, last.map({ now - $0 >= interval }) ?? true else { return 0 }
        guard fdatasync(file) == 0 else { return errno }
        last = now
        write(ResumeRecord(bytesOnDisk: count, entityTag: entityTag, total: total, boot: BootIdentity.current))
        return 0
    }

    private func write(_ record: ResumeRecord) {
        let new = path + ".new"
        let file = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        var text = record.text
        let isWritten =
            text.withUTF8 { Glibc.write(file, $0.baseAddress, $0.count) == $0.count } && fdatasync(file) == 0
        close(file)
        if !isWritten || rename(new, path) != 0 { unlink(new) }
    }
}
