internal import Glibc

/// Runs a program and waits for it.
package enum ChildProcess {
    /// The program could not be started, or did not exit with 0.
    package struct Failure: Error, CustomStringConvertible {
        package let command: [String]
        /// The exit status; 128 plus the signal's number if a signal ended it, as in a shell; -1 if it did not start.
        package let status: CInt
        package let standardError: String
        package let standardOutput: String

        /// With the last lines of what it said: a program that compares says on standard output what it found.
        package var description: String {
            let said = standardError.isEmpty ? standardOutput : standardError
            let errors = said.split(separator: "\n").suffix(20).joined(separator: "; ")
            return "'\(command.joined(separator: " "))' ended with \(status): \(errors)"
        }
    }

    /// - Returns: The program's standard output.
    @discardableResult
    package static func run(_ command: [String]) throws(Failure) -> String {
        let (status, output, errors) = result(of: command)
        guard status == 0 else {
            throw Failure(command: command, status: status, standardError: errors, standardOutput: output)
        }
        return output
    }

    private static func result(of command: [String]) -> (status: CInt, output: String, errors: String) {
        do throws(RunningProgram.Failure) {
            let spawn = try Spawn()
            // Files instead of pipes: they hold any amount of output without a reader.
            spawn.open(STDIN_FILENO, "/dev/null", O_RDONLY)
            let output = try spawn.file(STDOUT_FILENO)
            defer { close(output) }
            let errors = try spawn.file(STDERR_FILENO)
            defer { close(errors) }
            let child = try spawn.start(command, environment: [:])
            var word: CInt = 0
            while waitpid(child, &word, 0) == -1, errno == EINTR {}
            return (Spawn.status(word), Spawn.text(of: output), Spawn.text(of: errors))
        } catch {
            return (-1, "", error.description)
        }
    }
}
