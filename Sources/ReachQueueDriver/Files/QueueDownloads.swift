internal import Glibc
internal import ReachLoop
internal import ReachTransfer

/// Downloads that go where their clients want them. What comes is written beside that place, under a name of its own, and
/// renamed when it is whole: who looks finds all of it or nothing. Confined to the loop; the disk is waited for on a
/// thread.
final class QueueDownloads {
    private let thread = FileThread()
    private let replies: LoopReplies

    init(on loop: EventLoop) { replies = LoopReplies(loop: loop) }

    /// Puts a whole file in its place, safe on the disk.
    ///
    /// - Parameter reply: 0, or `errno`.
    func deliver(_ part: String, to path: String, reply: @escaping (CInt) -> Void) {
        let answer = replies.expect(reply)
        thread.run { answer(Self.deliver(part, to: path)) }
    }

    /// - Parameter reply: How long the file is; `nil` where there is none.
    func size(of part: String, reply: @escaping (UInt64?) -> Void) {
        let answer = replies.expect(reply)
        thread.run {
            var status = stat()
            answer(stat(part, &status) == 0 ? UInt64(clamping: status.st_size) : nil)
        }
    }

    func remove(_ part: String) {
        thread.run { unlink(part) }
    }

    private static func deliver(_ part: String, to path: String) -> CInt {
        let file = open(part, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return errno }
        defer { close(file) }
        guard fsync(file) == 0, rename(part, path) == 0 else { return errno }
        let slash = path.lastIndex(of: "/")
        let parent = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return errno }
        defer { close(directory) }
        return fsync(directory) == 0 ? 0 : errno
    }
}
