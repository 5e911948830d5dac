import Glibc
import ReachCore
import ReachLoop
import ReachTesting
import Testing

/// The notes of handlers on a loop, in order.
final class Notes {
    var lines: [String] = []
}

extension EventLoop {
    /// Runs until something stops it. If nothing does, the test fails after 20 s instead of hanging.
    func runToTheEnd() {
        let guardian = schedule(at: SystemClock.boot + .seconds(20)) { [unowned self] in
            Issue.record("nothing stopped the loop")
            stop()
        }
        run()
        cancel(guardian)
    }
}

/// A pipe whose ends are closed with it.
///
/// It is a named pipe: only open(2) sets close-on-exec in the same step that makes the descriptor, and other tests
/// start children at any time.
final class Pipe {
    let (reader, writer): (CInt, CInt)
    private let directory: TemporaryDirectory
    private var isReaderOpen = true

    init() throws {
        signal(SIGPIPE, SIG_IGN)
        directory = try TemporaryDirectory()
        let path = directory.path + "/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        writer = open(path, O_WRONLY | O_CLOEXEC)
        _ = fcntl(reader, F_SETFL, 0)
        try #require(reader >= 0 && writer >= 0)
    }

    deinit {
        closeReader()
        close(writer)
    }

    func closeReader() {
        if isReaderOpen { close(reader) }
        isReaderOpen = false
    }

    func write(_ text: String) { _ = Glibc.write(writer, text, text.utf8.count) }

    /// The bytes that are in the pipe now, up to a limit.
    func read(upTo limit: Int = 1 << 16) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = Glibc.read(reader, &buffer, buffer.count)
        return Array(buffer.prefix(max(count, 0)))
    }
}
