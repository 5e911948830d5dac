internal import CReachLinux
internal import Glibc
package import ReachLoop

/// A listening Unix socket. If this process made the socket, it removes the file at the end; it leaves an inherited one
/// alone.
final class ListeningSocket {
    private let socket: FileDescriptor
    /// The lock on `PATH.lock`, which gives this process the right to the path. `nil` if another user made a file of
    /// that name first: a listening socket keeps others out without it, and only daemons that start at the same moment
    /// lack an order.
    private let lock: FileLock?
    private let path: String
    private let file: FileIdentity?

    var descriptor: CInt { socket.rawValue }

    /// Every local user may connect; ``ControlAuthority`` decides what each may do.
    private static let mode: mode_t = 0o666

    /// Makes a socket at a path. Replaces a stale socket, on which no process listens.
    init(at path: String) throws(ListenError) {
        guard let address = UnixAddress(path) else { throw .badPath(path) }
        var directory = SocketDirectory(of: path)
        try directory.prepare()
        lock = try Self.claimLock(path, in: directory)
        try Self.removeStale(path, address, in: directory)
        do throws(SystemError) {
            socket = FileDescriptor(owning: try UnixAddress.socket(isBlocking: false))
            let descriptor = socket.rawValue
            try address.bind(descriptor)
            // No client can connect before listen(2), so the socket has its mode from the beginning.
            _ = try SystemError.check("chmod") { chmod(path, Self.mode) }
            _ = try SystemError.check("listen") { listen(descriptor, SOMAXCONN) }
        } catch {
            throw .failed(path: path, error)
        }
        self.path = path
        file = FileIdentity(path)
    }

    /// Takes ownership of a socket that another process made: a service manager.
    init(inherited descriptor: CInt) throws(ListenError) {
        guard Self.option(SO_DOMAIN, of: descriptor) == AF_UNIX, Self.option(SO_ACCEPTCONN, of: descriptor) == 1,
            Self.option(SO_TYPE, of: descriptor) == CInt(SOCK_STREAM.rawValue)
        else { throw .badDescriptor(descriptor) }
        socket = FileDescriptor(owning: descriptor)
        lock = nil
        path = ""
        file = nil
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    deinit {
        if let file, file == FileIdentity(path) { unlink(path) }
    }

    private static func claimLock(
        _ path: String, in directory: SocketDirectory
    ) throws(ListenError) -> FileLock? {
        do throws(FileLock.Failure) {
            return try FileLock(at: path + ".lock")
        } catch {
            switch error {
            case .unsafe where directory.isShared: return nil
            // A link there, or what the kernel protects from us (protected_regular, protected_fifos).
            case .failed(let error)
            where directory.isShared && [ELOOP, EISDIR, EACCES, EPERM, ENXIO].contains(error.number):
                return nil
            case .held(let process): throw .inUse(path: path, process: process)
            case .unsafe(let lock, let reason): throw .unsafeLock(lock, reason: reason)
            case .failed(let error): throw .failed(path: path, error)
            }
        }
    }

    private static func removeStale(
        _ path: String, _ address: UnixAddress, in directory: SocketDirectory
    ) throws(ListenError) {
        var information = stat()
        guard lstat(path, &information) == 0 else { return }
        if directory.isShared, information.st_uid != geteuid(), geteuid() != 0 {
            throw .taken(path: path, user: information.st_uid)
        }
        guard information.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path: path) }
        let owner: Int32?
        do throws(SystemError) {
            let probe = FileDescriptor(owning: try UnixAddress.socket(isBlocking: false))
            try address.connect(probe.rawValue)
            var peer = reach_peer()
            let isKnown = reach_peer_credentials(probe.rawValue, &peer) == 0
            owner = isKnown ? peer.process : nil
        } catch {
            switch error.number {
            case ECONNREFUSED: unlink(path)
            case ENOENT: break
            // Its queue is full, so a process listens.
            case EAGAIN: throw .inUse(path: path, process: nil)
            default: throw .failed(path: path, error)
            }
            return
        }
        throw .inUse(path: path, process: owner)
    }

    private static func option(_ name: CInt, of descriptor: CInt) -> CInt? {
        var value: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }
}

/// The identity of a file, which distinguishes it from another file at the same path.
struct FileIdentity: Hashable {
    private let device: dev_t
    private let inode: ino_t

    init?(_ path: String) {
        var information = stat()
        guard lstat(path, &information) == 0 else { return nil }
        device = information.st_dev
        inode = information.st_ino
    }
}

/// A reason why the server cannot listen.
package enum ListenError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another daemon listens there. That is a mistake to report: the second daemon must not replace the first.
    case inUse(path: String, process: Int32?)
    /// Other users can write to the directory, and could replace the socket with their own.
    case unsafeDirectory(String, reason: String)
    /// The lock file next to the socket is not the daemon's own.
    case unsafeLock(String, reason: String)
    case notASocket(path: String)
    /// In a directory where everybody can make files, another user was first: only another place helps.
    case taken(path: String, user: UInt32)
    case badPath(String)
    /// An inherited descriptor is no listening Unix stream socket.
    case badDescriptor(Int32)
    case failed(path: String, SystemError)

    package var description: String {
        switch self {
        case .inUse(let path, let process?): "\(path) belongs to process \(process)"
        case .inUse(let path, nil): "\(path) belongs to another process"
        case .unsafeDirectory(let path, let reason): "\(path) is no place for a socket: \(reason)"
        case .unsafeLock(let path, let reason): "\(path) is no lock of ours: \(reason)"
        case .notASocket(let path): "\(path) is there and no socket"
        case .taken(let path, let user):
            """
            \(path) belongs to user \(user): choose a directory where only root and the daemon's user can write, \
            such as /run/reach
            """
        case .badPath(let path): "'\(path)' cannot be the path of a socket: 1 to 107 bytes"
        case .badDescriptor(let descriptor): "descriptor \(descriptor) is no Unix socket that listens"
        case .failed(let path, let error): "\(path): \(error)"
        }
    }
}
