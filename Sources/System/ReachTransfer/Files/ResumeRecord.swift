internal import Glibc
internal import ReachCore
internal import ReachLoop

/// The record next to a download's file, by which another process can resume the download.
///
/// It covers only bytes that are on the disk: the file is synced first, and then the record is replaced as a whole. As
/// long as the machine has not restarted, every byte that was written is there, even if the process was killed: then
/// the file's length counts.
struct ResumeRecord: Hashable, Sendable {
    /// The bytes of the file that are on the disk, from its beginning.
    var bytesOnDisk: UInt64
    /// The resource's strong entity tag.
    var entityTag: String
    /// The number of bytes of the resource; `nil` if it is not known.
    var total: UInt64?
    /// The identity of the boot in which it was written.
    var boot: String

    /// Where the download resumes.
    ///
    /// - Parameter size: The file's length now.
    /// - Returns: `nil` if the file has lost bytes that the record covers.
    func resumePoint(size: UInt64, boot: String) -> ResumePoint? {
        guard size >= bytesOnDisk else { return nil }
        let isSameBoot = !boot.isEmpty && boot == self.boot
        return ResumePoint(offset: isSameBoot ? size : bytesOnDisk, entityTag: entityTag, total: total)
    }

    // MARK: - As text

    private static let title = "reach download 1"
    /// With the total.
    private static let laterTitle = "reach download 2"

    /// Lines: a title, the number of bytes, the boot, the entity tag, the total if it is known, and the checksum of
    /// these.
    var text: String {
        let title = total == nil ? Self.title : Self.laterTitle
        let rest = total.map { [String($0)] } ?? []
        let lines = ([title, String(bytesOnDisk), boot, entityTag] + rest).map { $0 + "\n" }.joined()
        return lines + String(CyclicRedundancy.checksum(Array(lines.utf8)), radix: 16) + "\n"
    }

    /// - Returns: `nil` for anything but a complete record.
    init?(text: String) {
        let lines = text.split(scalar: "\n", omittingEmptySubsequences: false).map(String.init)
        let total = lines.first == Self.laterTitle && lines.count == 7 ? UInt64(lines[4]) : nil
        guard total != nil || lines.count == 6 && lines[0] == Self.title, let bytes = UInt64(lines[1]),
            ResumePoint.isStrong(lines[3])
        else { return nil }
        self.init(bytesOnDisk: bytes, entityTag: lines[3], total: total, boot: lines[2])
        guard self.text == text else { return nil }
    }

    init(bytesOnDisk: UInt64, entityTag: String, total: UInt64? = nil, boot: String) {
        self.bytesOnDisk = bytesOnDisk
        self.entityTag = entityTag
        self.total = total
        self.boot = boot
    }
}

extension ResumePoint {
    /// The resume point of a download, by the record next to its file. Blocks on the disk.
    ///
    /// - Returns: `nil` if no record covers a byte.
    init?(record path: String, of file: String) {
        var status = stat()
        guard let record = ResumeRecord(text: SmallFile.text(path) ?? ""), stat(file, &status) == 0,
            let size = UInt64(exactly: status.st_size),
            let point = record.resumePoint(size: size, boot: BootIdentity.current), point.offset > 0
        else { return nil }
        self = point
    }
}
