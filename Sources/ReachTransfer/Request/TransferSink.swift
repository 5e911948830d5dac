/// Where the body of a response goes.
package enum TransferSink: Hashable, Sendable {
    /// Into ``TransferReport/body``.
    case memory
    /// Told piece by piece as ``TransferEvent/body(_:)``, and not kept.
    case events
    /// Counted, and not kept.
    case none
    /// Into a file, written on a thread for files. Only the body of a 200 or 206 goes there; another's goes into memory.
    case file(FileSink)
}

/// A download's file. What was written stays there after a failure, to be resumed.
package struct FileSink: Hashable, Sendable {
    package let path: String
    /// Where an earlier transfer stopped; `nil` begins with an empty file.
    package var resume: ResumePoint?
    /// A body of no more bytes goes into memory, whatever its status, and the file is not made: small answers need no
    /// disk. Above it the whole body goes into the file, whatever its status.
    package var memoryBytes = 0
    /// Of a file that is made, less the process's umask.
    package var permissions: UInt32 = 0o666
    /// A file in which it is kept how far the download is, for whoever goes on with it after the end of this process
    /// (``TransferEngine/resumePoint(record:of:reply:)``); `nil` for none. It is there as long as the download has not
    /// ended well, where the server gave a strong entity tag.
    package var recordPath: String?
    /// How often the disk is waited for, at the most: so much of a download does a loss of power take. The end of the
    /// process takes nothing.
    package var recordInterval: Duration = .seconds(5)

    package init(path: String, resume: ResumePoint? = nil) {
        self.path = path
        self.resume = resume
    }
}

/// Where a download was interrupted, and of what.
///
/// It is resumed by Range and If-Range (RFC 9110 section 13.1.5) and with GET only. A server that answers 200 sends all
/// of it anew; one whose answer is not about these bytes fails with `bad-range`, and the file is left as it was.
package struct ResumePoint: Hashable, Sendable {
    /// So many bytes of the file are good; what is beyond is thrown away.
    package let offset: UInt64
    /// The strong entity tag of what they belong to. A weak one (`W/"..."`) says nothing about bytes, so with one
    /// there is no resuming: the download begins anew.
    package let entityTag: String

    package init(offset: UInt64, entityTag: String) {
        self.offset = offset
        self.entityTag = entityTag
    }

    /// Whether `text` is an entity tag that vouches for bytes.
    package static func isStrong(_ text: String) -> Bool {
        text.utf8.count >= 2 && text.utf8.first == UInt8(ascii: "\"") && text.utf8.last == UInt8(ascii: "\"")
            && text.utf8.dropFirst().dropLast().allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != 0x7f }
    }
}

/// How much of a response is taken.
package struct ResponseLimit: Hashable, Sendable {
    /// What the end of the limit means.
    package enum Action: Hashable, Sendable {
        /// Enough was read: the transfer ends well, and says that it was cut.
        case stop
        /// The transfer fails with `response-too-large`, at once where the size is announced.
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
