internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

/// A file whose bytes become a body; `-` is standard input.
struct QueueBodyFile {
    let path: String

    init(_ path: String) { self.path = path }

    /// The whole content.
    func read() throws(CommandError) -> [UInt8] {
        var body: [UInt8] = []
        do throws(SystemError) {
            try pieces { piece throws(SystemError) in body += piece }
        } catch {
            throw refusal(error)
        }
        return body
    }

    /// Refuses files that cannot be read, and directories, before the daemon is asked.
    func check() throws(CommandError) {
        do throws(SystemError) {
            let descriptor = try open()
            defer { if path != "-" { close(descriptor) } }
            var byte: UInt8 = 0
            _ = try SystemError.check("read") { CInt(Glibc.read(descriptor, &byte, 0)) }
        } catch {
            throw refusal(error)
        }
    }

    /// Uploads the file to the daemon in pieces.
    ///
    /// - Returns: The upload's name, which the daemon chose.
    func upload(through client: inout ControlClient) throws(ControlError) -> String {
        var uploader = PieceUploader()
        try append(to: &uploader, through: &client)
        return try uploader.finish(through: &client)
    }

    func append(to uploader: inout PieceUploader, through client: inout ControlClient) throws(ControlError) {
        let descriptor: CInt
        do throws(SystemError) { descriptor = try open() } catch { throw .failed(path: path, error) }
        defer { if path != "-" { close(descriptor) } }
        var line = QueueStoringLine(of: descriptor)
        defer { line?.remove() }
        try Self.appendMemory(of: descriptor, to: &uploader, through: &client, &line)
        while true {
            let piece: [UInt8]
            do throws(SystemError) { piece = try Self.piece(of: descriptor) } catch { throw .failed(path: path, error) }
            if piece.isEmpty { return }
            try uploader.append(piece, through: &client)
            line?.add(Int64(piece.count))
        }
    }

    /// Uploads what it can of a large regular file as memory, which costs a copy; bytes in messages cost ten times as
    /// much. What is left, also where the daemon takes no memory, follows from the file's position.
    private static func appendMemory(
        of file: CInt, to uploader: inout PieceUploader, through client: inout ControlClient,
        _ line: inout QueueStoringLine?
    ) throws(ControlError) {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            case var offset = Int64(lseek(file, 0, SEEK_CUR)), offset >= 0, status.st_size.wide - offset > smallest
        else { return }
        while let memory = try? SealedMemory(of: file, from: offset, atMost: QueueUpload.memoryBytes), memory.count > 0
        {
            guard try uploader.append(memory, through: &client) else { break }
            offset += memory.count
            line?.add(Int64(memory.count))
        }
        lseek(file, Int(offset), SEEK_SET)
    }

    /// A file of no more bytes goes in one message.
    private static let smallest = QueueUpload.pieceBytes.wide

    private func pieces(_ take: ([UInt8]) throws(SystemError) -> Void) throws(SystemError) {
        let descriptor = try open()
        defer { if path != "-" { close(descriptor) } }
        while case let piece = try Self.piece(of: descriptor), !piece.isEmpty { try take(piece) }
    }

    private func open() throws(SystemError) -> CInt {
        if path == "-" { return STDIN_FILENO }
        return try SystemError.check("open") { ByteText.open(path, O_RDONLY | O_CLOEXEC) }
    }

    /// The next piece, as large as one call allows; only the last one is smaller.
    private static func piece(of descriptor: CInt) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < QueueUpload.pieceBytes {
            let wanted = QueueUpload.pieceBytes - bytes.count
            var failure: SystemError?
            let part = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
                var result = Glibc.read(descriptor, buffer.baseAddress, wanted)
                while result < 0, errno == EINTR { result = Glibc.read(descriptor, buffer.baseAddress, wanted) }
                if result < 0 { failure = SystemError(call: "read") }
                count = max(0, result)
            }
            if let failure { throw failure }
            guard !part.isEmpty else { break }
            bytes += part
        }
        return bytes
    }

    private func refusal(_ error: SystemError) -> CommandError {
        CommandError(status: .cannotRead, message: "\(DisplayText.sanitized(ByteText.shown(path))): \(error)")
    }
}

/// How much of a large file has been handed to the daemon, on one line of a terminal.
struct QueueStoringLine {
    private let total: Int64
    private var count: Int64 = 0
    private var rate = TransferRate()
    /// When it is written next: what takes no longer than a second has no line.
    private var next = SystemClock.boot + .seconds(1)
    private var isShown = false

    /// - Returns: `nil` where nobody would see it, or the length is not known.
    init?(of file: CInt) {
        var status = stat()
        guard isatty(STDERR_FILENO) == 1, fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        total = Int64(status.st_size)
    }

    mutating func add(_ bytes: Int64) {
        count += bytes
        let now = SystemClock.boot
        rate.add(count, at: now)
        guard now >= next else { return }
        next = now + .milliseconds(200)
        isShown = true
        let line = QueueProgressText(isUnicode: TerminalStyle.isUnicode).line(
            "storing", count, of: total, rate: rate.bytesPerSecond(at: now), width: (StandardError.width ?? 80) - 1)
        StandardError.write("\r\(line)\u{1b}[K")
    }

    func remove() { if isShown { StandardError.write("\r\u{1b}[K") } }
}
