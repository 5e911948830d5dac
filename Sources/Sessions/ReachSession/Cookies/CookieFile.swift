internal import Glibc
internal import ReachCore
internal import ReachLoop

/// The file of a session's cookies: one JSON object a line. It holds secrets, so only its owner may read it.
///
/// The file is replaced as a whole, after the new one is on the disk. One session at a time has it.
struct CookieFile: ~Copyable {
    let path: String
    private let lock: FileLock

    /// The longest file that is read: more than a jar's limits let it write.
    private static let limit = 32 << 20

    /// Locks the file. The file itself need not exist.
    init(_ path: String) throws(RequestError) {
        self.path = path
        do throws(FileLock.Failure) {
            lock = try FileLock(at: path + ".lock")
        } catch {
            throw RequestError(error, path)
        }
    }

    /// Lets another session use the file.
    func release() { lock.release() }

    /// Reads all cookies that can be read; lines that cannot be are left out.
    ///
    /// - Throws: Where there is a file that cannot be read, or one that is not this user's.
    func read() throws(RequestError) -> [Cookie] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return [] }
            throw RequestError(.notTaken, "unusable", "\(path): \(SystemError.text(errno))")
        }
        let file = FileDescriptor(owning: descriptor)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
            throw RequestError(.notTaken, "unusable", "\(path): it is not a regular file of this user")
        }
        let bytes = Self.contents(of: file.rawValue)
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { Cookie(line: Array($0)) }
    }

    private static func contents(of file: CInt) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < limit {
            let count = Glibc.read(file, &piece, piece.count)
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        return bytes
    }

    /// Replaces the file. Blocks until it is on the disk.
    func write(_ cookies: [Cookie]) throws(SystemError) {
        var bytes: [UInt8] = []
        for cookie in cookies where cookie.expires != nil { bytes += cookie.line }
        try AtomicFile.replace(path, with: bytes)
    }
}

extension RequestError {
    init(_ failure: FileLock.Failure, _ path: String) {
        switch failure {
        case .held: self.init(.notTaken, "in-use", "\(path): another session uses it")
        case .unsafe(let path, let reason): self.init(.notTaken, "unusable", "\(path): \(reason)")
        case .failed(let error): self.init(.notTaken, "unusable", "\(path): \(error)")
        }
    }
}

extension Cookie {
    fileprivate var line: [UInt8] {
        var writer = JSONWriter()
        writer.object {
            $0.field("name", name)
            $0.field("value", value)
            $0.field("domain", domain)
            $0.field("path", path)
            $0.field("expires_ns", expires?.nanosecondsSince1970)
            $0.field("secure", isSecure)
            $0.field("http_only", isHTTPOnly)
            $0.field("host_only", isHostOnly)
        }
        writer.newline()
        return writer.bytes
    }

    /// - Returns: `nil` for anything but a cookie that can be sent.
    fileprivate init?(line: [UInt8]) {
        guard let json = try? JSONReader.read(line), let name = json["name"]?.string,
            let value = json["value"]?.string, let domain = json["domain"]?.string, let path = json["path"]?.string,
            let expires = json["expires_ns"]?.integer, let isSecure = json["secure"]?.bool,
            let isHTTPOnly = json["http_only"]?.bool, let isHostOnly = json["host_only"]?.bool
        else { return nil }
        self.init(
            name: name, value: value, domain: domain, path: path,
            expires: Timestamp(nanosecondsSince1970: expires), isSecure: isSecure, isHTTPOnly: isHTTPOnly,
            isHostOnly: isHostOnly)
        guard isSendable else { return nil }
    }
}
