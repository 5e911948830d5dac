internal import Glibc
internal import ReachCore
internal import ReachLoop

/// What is written beside a download's file while that grows, so that another process can go on with it.
///
/// It never speaks of bytes that are not on the disk: they are waited for first, and the record is replaced as a whole
/// after that. As long as the machine has not started anew, every byte that was written is there, whatever became of the
/// process: then the file's length counts.
struct ResumeRecord: Hashable, Sendable {
    /// Of the file, from its beginning.
    var bytesOnDisk: UInt64
    /// A strong one.
    var entityTag: String
    /// The start of the machine in which it was written.
    var boot: String

    /// Where the download goes on.
    ///
    /// - Parameter size: The file's length now.
    /// - Returns: `nil` where the file has lost what the record vouches for.
    func resumePoint(size: UInt64, boot: String) -> ResumePoint? {
        guard size >= bytesOnDisk else { return nil }
        let isSameStart = !boot.isEmpty && boot == self.boot
        return ResumePoint(offset: isSameStart ? size : bytesOnDisk, entityTag: entityTag)
    }

    // MARK: - As text

    private static let title = "reach download 1"

    /// Lines: a title, the number of bytes, the start of the machine, the entity tag, and the checksum of these.
    var text: String {
        let lines = [Self.title, String(bytesOnDisk), boot, entityTag].map { $0 + "\n" }.joined()
        return lines + String(CyclicRedundancy.checksum(Array(lines.utf8)), radix: 16) + "\n"
    }

    /// - Returns: `nil` for anything but a whole record.
    init?(text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.count == 6, lines[0] == Self.title, let bytes = UInt64(lines[1]), ResumePoint.isStrong(lines[3])
        else { return nil }
        self.init(bytesOnDisk: bytes, entityTag: lines[3], boot: lines[2])
        guard self.text == text else { return nil }
    }

    init(bytesOnDisk: UInt64, entityTag: String, boot: String) {
        self.bytesOnDisk = bytesOnDisk
        self.entityTag = entityTag
        self.boot = boot
    }
}

extension ResumePoint {
    /// What the record beside a download's file tells. Blocks on the disk.
    ///
    /// - Returns: `nil` where there is none that vouches for a byte.
    init?(record path: String, of file: String) {
        var status = stat()
        guard let record = ResumeRecord(text: SmallFile.text(path)), stat(file, &status) == 0,
            let size = UInt64(exactly: status.st_size),
            let point = record.resumePoint(size: size, boot: BootIdentity.current), point.offset > 0
        else { return nil }
        self = point
    }
}
