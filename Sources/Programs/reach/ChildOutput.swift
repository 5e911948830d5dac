internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// What another program prints.
enum ChildOutput {
    /// Runs the command to its end.
    ///
    /// - Parameters:
    ///   - arguments: The program, a path or a name in PATH, and its arguments.
    ///   - showsErrors: Whether its standard error is this program's.
    /// - Returns: The status as the shell has it, and what it wrote to standard output.
    static func of(
        _ arguments: [String], showsErrors: Bool = true
    ) throws(SystemError) -> (status: CInt, output: [UInt8]) {
        var ends: [CInt] = [0, 0]
        _ = try SystemError.check("pipe") { pipe(&ends) }
        let reader = FileDescriptor(owning: ends[0])
        let writer = FileDescriptor(owning: ends[1])
        let child = try spawn(arguments, output: writer.rawValue, not: reader.rawValue, showsErrors)
        _ = consume writer
        var output: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(reader.rawValue, &piece, piece.count), count > 0 || (count < 0 && errno == EINTR) {
            output += piece.prefix(max(0, count))
        }
        var word: CInt = 0
        while waitpid(child, &word, 0) == -1, errno == EINTR {}
        // The same as in the shell.
        return (word & 0x7f == 0 ? (word >> 8) & 0xff : 128 + (word & 0x7f), output)
    }

    private static func spawn(
        _ arguments: [String], output: CInt, not reader: CInt, _ showsErrors: Bool
    ) throws(SystemError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_addclose(&actions, reader)
        if output != STDOUT_FILENO { posix_spawn_file_actions_addclose(&actions, output) }
        if !showsErrors { posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) }
        var child = pid_t()
        let number = CStrings.with(arguments) { posix_spawnp(&child, arguments[0], &actions, nil, $0, environ) }
        guard number == 0 else { throw SystemError(call: "posix_spawn", number: number) }
        return child
    }
}
