internal import Glibc

/// The destination of a response's body.
package enum TransferSink: Hashable, Sendable {
    /// Into ``TransferReport/body``.
    case memory
    /// Reported piece by piece as ``TransferEvent/body(_:)``, and not kept.
    case events
    /// Counted, and not kept.
    case none
    /// Into a file, written on a thread for files. Only the body of a 200 or 206 goes there; others go into memory.
    case file(FileSink)
}

/// The file of a download. It stays there after a failure, so that the download can be resumed.
package struct FileSink: Hashable, Sendable {
    package let path: String
    /// Where an earlier transfer stopped; `nil` begins with an empty file.
    package var resume: ResumePoint?
    /// A body of at most this many bytes goes into memory, whatever its status, and the file is not created: small
    /// responses need no disk. A larger body goes into the file as a whole, whatever its status.
    package var memoryBytes = 0
    /// The permissions of a new file, less the process's umask.
    package var permissions: UInt32 = 0o666
    /// What the path of a record has behind ``path``, by which another process can resume the download
    /// (``TransferEngine/resumePoint(record:of:reply:)``); `nil` for no record. It exists until the download succeeds,
    /// where the server sent a strong entity tag.
    package var recordSuffix: String?
    /// The least time between two syncs of the file, and so the most of a download that a power loss costs. The end of
    /// the process costs nothing.
    package var recordInterval: Duration = .seconds(5)
    /// What stays free: the room of the body is taken before it is received, and where there is too little, the
    /// transfer fails with ENOSPC. `nil` takes what the disk has, as bytes arrive.
    package var keptFree: KeptSpace?

    package init(path: String, resume: ResumePoint? = nil) {
        self.path = path
        self.resume = resume
    }

    /// Made when it is needed: most answers are short, and no file is.
    var recordPath: String? { recordSuffix.map { path + $0 } }
}

/// The bytes of one disk that stay free. Files on other disks take their room beforehand, too, and may fill theirs.
package struct KeptSpace: Hashable, Sendable {
    package let bytes: Int64
    /// The disk's number (stat(2)); `nil` stands for every disk.
    package let device: UInt64?

    package init(bytes: Int64, device: UInt64? = nil) {
        self.bytes = bytes
        self.device = device
    }

    /// - Parameter path: A file or directory on the disk.
    package init(bytes: Int64, onDiskOf path: String) {
        var status = stat()
        self.init(bytes: bytes, device: stat(path, &status) == 0 ? UInt64(status.st_dev) : nil)
    }
}

/// Where a download was interrupted, and of which resource.
///
/// It is resumed by Range and If-Range (RFC 9110 section 13.1.5), with GET only. With status 200 a server sends all of
/// it again; a response about other bytes fails with `bad-range`, and the file is left as it was.
package struct ResumePoint: Hashable, Sendable {
    /// The number of bytes of the file to keep; anything beyond is dropped.
    package let offset: UInt64
    /// The strong entity tag of the resource. A weak one (`W/"..."`) says nothing about bytes, so the download starts
    /// again.
    package let entityTag: String
    /// The number of bytes of the resource, as the first response said; `nil` if it did not.
    package let total: UInt64?

    package init(offset: UInt64, entityTag: String, total: UInt64? = nil) {
        self.offset = offset
        self.entityTag = entityTag
        self.total = total
    }

    /// Whether `text` is a strong entity tag, which identifies bytes.
    package static func isStrong(_ text: String) -> Bool {
        text.utf8.count >= 2 && text.utf8.first == UInt8(ascii: "\"") && text.utf8.last == UInt8(ascii: "\"")
            && text.utf8.dropFirst().dropLast().allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != 0x7f }
    }
}

/// How much of a response is read.
package struct ResponseLimit: Hashable, Sendable {
    /// What happens at the limit.
    package enum Action: Hashable, Sendable {
        /// The transfer succeeds, and reports that the body was cut.
        case stop
        /// The transfer fails with `response-too-large`, immediately where the server sends the size.
        case fail
    }

    /// Of the body, after decoding of chunks; bytes.
    package var bodyBytes: UInt64
    package var action: Action
    /// Of all header lines of one response together; bytes. Beyond, it fails with `header-too-large`.
    package var headerBytes = 256 * 1024

    package init(bodyBytes: UInt64 = 1024 * 1024, action: Action = .fail) {
        self.bodyBytes = bodyBytes
        self.action = action
    }
}
