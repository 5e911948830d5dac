internal import Glibc

/// Runs a program and waits for it.
package enum ChildProcess {
    /// The program could not be started, or did not exit with 0.
    package struct Failure: Error, CustomStringConvertible {
        package let command: [String]
        /// The exit status; 128 and more where a signal ended it (as the shell tells it), -1 where it never ran.
        package let status: CInt
        package let standardError: String

        package var description: String {
            let told = standardError.split(separator: "\n").joined(separator: "; ")
            return "'\(command.joined(separator: " "))' ended with \(status): \(told)"
        }
    }

    /// - Returns: What the program wrote to its standard output.
    @discardableResult
    package static func run(_ command: [String]) throws(Failure) -> String {
        // Files and not pipes: they hold any amount while nobody reads.
        let (output, errors) = (temporaryFile(), temporaryFile())
        defer {
            close(output)
            close(errors)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        unblockSignals(&attributes)

        var arguments = command.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var child = pid_t()
        let error = posix_spawnp(&child, command[0], &actions, &attributes, &arguments, environ)
        guard error == 0 else {
            throw Failure(command: command, status: -1, standardError: String(cString: strerror(error)))
        }
        let status = wait(for: child)
        guard status == 0 else { throw Failure(command: command, status: status, standardError: text(of: errors)) }
        return text(of: output)
    }

    /// Tests run on threads of the concurrency runtime, which block nearly every signal; a child would inherit that
    /// and ignore SIGTERM.
    private static func unblockSignals(_ attributes: inout posix_spawnattr_t) {
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    }

    private static func wait(for child: pid_t) -> CInt {
        var status: CInt = 0
        while waitpid(child, &status, 0) == -1, errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? status >> 8 & 0xff : 128 + signal
    }

    private static func temporaryFile() -> CInt {
        var path = Array("/tmp/reach-test-XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(path)
        return descriptor
    }

    private static func text(of file: CInt) -> String {
        let size = max(0, Int(lseek(file, 0, SEEK_END)))
        return String(unsafeUninitializedCapacity: size) { max(0, pread(file, $0.baseAddress, size, 0)) }
    }
}
