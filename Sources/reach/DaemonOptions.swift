internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore

/// Whether the daemon is asked, and where.
struct DaemonOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Ask the daemon that listens there, and nobody else.", valueName: "path"))
    var socket: String?

    @Flag(help: "Ask the kernel, even if a daemon runs.")
    var noDaemon = false

    func validate() throws {
        if noDaemon && socket != nil { throw ValidationError("--socket and --no-daemon exclude each other") }
    }

    /// The daemon has its configuration, and takes no options of ours.
    ///
    /// - Parameter kernelOptions: Those that were given.
    func exclude(_ kernelOptions: [String]) throws {
        if socket != nil, let option = kernelOptions.first {
            throw ValidationError("--socket and \(option) exclude each other: the daemon has its configuration")
        }
    }

    /// Who is to be asked.
    ///
    /// - Parameter kernelOptions: Options that were given and that only a look of one's own can honour.
    func source(_ kernelOptions: [String] = []) -> Source {
        guard !noDaemon else { return .kernel(note: nil) }
        let path = socket ?? SocketPath.forClient(uid: getuid(), environment: SocketPath.processEnvironment)
        if let option = kernelOptions.first {
            let isThere = access(path, F_OK) == 0
            return .kernel(note: isThere ? "told by the kernel: \(option) is not for the daemon" : nil)
        }
        let isInEnvironment = SocketPath.processEnvironment("REACH_SOCKET")?.isEmpty == false
        return .daemon(path: path, wasNamed: socket != nil || isInEnvironment)
    }

    enum Source {
        /// - Parameter note: For people who might have expected the daemon's answer.
        case kernel(note: String?)
        /// Unless it was asked for by name, the kernel is asked in its place where it does not answer, or watches another
        /// network namespace than that of this process.
        case daemon(path: String, wasNamed: Bool)

        /// The daemon at a path, or the kernel in place of one that does not answer for this network namespace.
        var checked: Source {
            guard case .daemon(let path, wasNamed: false) = self else { return self }
            do throws(ControlError) {
                var client = try ControlClient(path: path, patience: .seconds(1))
                return try client.isInThisNamespace() ? self : .kernel(note: nil)
            } catch {
                return .kernel(note: Self.note(on: error))
            }
        }

        /// What the daemon tells.
        ///
        /// - Returns: `nil` where the kernel is to be asked instead; this is then the kernel.
        mutating func ask<Answer>(
            _ question: (inout ControlClient) throws(ControlError) -> Answer
        ) throws(CommandError) -> Answer? {
            guard case .daemon(let path, let wasNamed) = self else { return nil }
            do throws(ControlError) {
                var client = try ControlClient(path: path)
                if !wasNamed {
                    guard try client.isInThisNamespace() else {
                        self = .kernel(note: nil)
                        return nil
                    }
                }
                return try question(&client)
            } catch {
                guard !wasNamed else { throw .cannotAsk(error) }
                self = .kernel(note: Self.note(on: error))
                return nil
            }
        }

        /// That no daemon runs is nothing to tell of; that one does not answer is.
        private static func note(on error: ControlError) -> String? {
            if case .notRunning = error { return nil }
            return "told by the kernel: \(DisplayText.sanitized(error.description))"
        }

        /// A line for people that says who has told what stands above it, where that is not the usual.
        ///
        /// - Parameter isDaemon: The daemon has told.
        func note(isDaemon: Bool, _ style: TerminalStyle) -> String {
            let text: String? =
                if isDaemon { "told by the daemon" } else if case .kernel(let note) = self { note } else { nil }
            return text.map { style.paint("(\($0))", .grey) + "\n" } ?? ""
        }
    }
}

extension CommandError {
    static func cannotAsk(_ error: ControlError) -> CommandError {
        CommandError(status: .cannotObserve, message: error.description)
    }
}
