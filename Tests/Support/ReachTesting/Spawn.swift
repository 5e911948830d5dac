internal import Glibc

/// The arguments of posix_spawn(3), built in steps.
final class Spawn {
    private var actions = posix_spawn_file_actions_t()
    private var attributes = posix_spawnattr_t()

    /// Unblocks all signals in the child: tests run on threads of the concurrency runtime, which block nearly every
    /// signal, and a child would inherit that and ignore SIGTERM.
    init() throws(RunningProgram.Failure) {
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    }

    deinit {
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
        temporary.forEach { unlink($0) }
    }

    private var temporary: [String] = []

    func close(_ descriptor: CInt) { posix_spawn_file_actions_addclose(&actions, descriptor) }

    func open(_ descriptor: CInt, _ path: String, _ flags: CInt) {
        posix_spawn_file_actions_addopen(&actions, descriptor, path, flags, 0)
    }

    /// Connects `descriptor` of the child to a pipe.
    ///
    /// - Returns: The read end.
    func pipe(_ descriptor: CInt) throws(RunningProgram.Failure) -> CInt {
        let path = temporaryName()
        guard mkfifo(path, 0o600) == 0 else { throw Self.failure("mkfifo") }
        temporary.append(path)
        open(descriptor, path, O_WRONLY)
        let end = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard end >= 0 else { throw Self.failure(path) }
        return end
    }

    /// Connects `descriptor` of the child to a file without a name, which holds any amount of output without a reader.
    ///
    /// - Returns: The file, open for reading as well.
    func file(_ descriptor: CInt) throws(RunningProgram.Failure) -> CInt {
        let path = temporaryName()
        let file = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Self.failure(path) }
        temporary.append(path)
        open(descriptor, path, O_WRONLY | O_APPEND)
        return file
    }

    /// Starts the program. When this returns, the child has opened its files.
    func start(_ command: [String], environment changes: [String: String?]) throws(RunningProgram.Failure) -> pid_t {
        var variables: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            variables[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
            entry += 1
        }
        for (name, value) in changes { variables[name] = value }
        var arguments = command.map { strdup($0) } + [nil]
        var environment = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { (arguments + environment).forEach { free($0) } }
        var child = pid_t()
        let number = posix_spawnp(&child, command[0], &actions, &attributes, &arguments, &environment)
        guard number == 0 else { throw Self.failure(command[0], number) }
        return child
    }

    /// The text that a child wrote to a ``file(_:)``.
    static func text(of file: CInt) -> String {
        let size = max(0, Int(lseek(file, 0, SEEK_END)))
        return String(unsafeUninitializedCapacity: size) { max(0, pread(file, $0.baseAddress, size, 0)) }
    }

    /// The exit status from the word that waitpid(2) returns; 128 plus the signal's number for a signal, as in a shell.
    static func status(_ word: CInt) -> CInt {
        let signal = word & 0x7f
        return signal == 0 ? word >> 8 & 0xff : 128 + signal
    }

    private func temporaryName() -> String {
        "/tmp/reach-test-\(getpid())-" + String(UInt64.random(in: .min ... .max), radix: 36)
    }

    private static func failure(_ what: String, _ number: CInt = errno) -> RunningProgram.Failure {
        RunningProgram.Failure(description: "\(what): \(String(cString: strerror(number)))")
    }
}
