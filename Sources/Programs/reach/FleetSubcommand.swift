internal import ArgumentParser
internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

/// `reach fleet ...` runs `reach-fleet ...`, a program of its own, since it links what this one does not.
struct FleetSubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet", abstract: "Run reach-fleet, which shows many hosts together, and reports this one.")

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("The command of reach-fleet and its options.", valueName: "argument"))
    var arguments: [String] = []

    private static let program = "reach-fleet"

    func run() throws {
        // The one of the same installation first, then as the shell finds it.
        for path in [ThisProgram.directory + "/" + Self.program, Self.program] {
            // free(3) may change errno.
            let error = CStrings.with([Self.program] + arguments) { words in
                execvp(path, words)
                return errno
            }
            guard error == ENOENT else {
                throw CommandError(status: .cannotExecute, message: "\(Self.program): \(SystemError.text(error))")
            }
        }
        throw CommandError(
            status: .commandNotFound, message: "\(Self.program) is not installed; its package is reach-fleet")
    }
}
