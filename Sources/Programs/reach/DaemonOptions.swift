internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachTerminal

/// The options that choose the daemon or the kernel.
struct DaemonOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Ask only the daemon that listens on this socket.", valueName: "path"),
        completion: .file())
    var socket: String?

    @Flag(help: "Ask the kernel, even if a daemon runs.")
    var noDaemon = false

    func validate() throws {
        if noDaemon && socket != nil { throw ValidationError("--socket and --no-daemon exclude each other") }
    }

    /// Rejects options that the daemon cannot honour, since it has its own configuration.
    ///
    /// - Parameter kernelOptions: The given options that only a query of the kernel honours.
    func exclude(_ kernelOptions: [String]) throws {
        if socket != nil, let option = kernelOptions.first {
            throw ValidationError("--socket and \(option) exclude each other: the daemon has its configuration")
        }
    }

    /// The source to ask.
    ///
    /// - Parameter kernelOptions: The given options that only a query of the kernel honours.
    func source(_ kernelOptions: [String] = []) -> Source {
        Source(socket: socket, noDaemon: noDaemon, kernelOptions: kernelOptions)
    }

    enum Source: Equatable {
        /// - Parameter note: The reason, for people who might expect the daemon's answer.
        case kernel(note: String?)
        /// Unless the daemon was named, the kernel replaces it if it does not answer or watches another network
        /// namespace than that of this process.
        case daemon(path: String, wasNamed: Bool)

        /// - Parameters:
        ///   - socket: The path of the daemon's socket, if it was given.
        ///   - noDaemon: Whether the kernel was asked for.
        ///   - kernelOptions: The given options that only a query of the kernel honours.
        init(socket: String?, noDaemon: Bool, kernelOptions: [String] = []) {
            guard !noDaemon else {
                self = .kernel(note: nil)
                return
            }
            let path = socket ?? SocketPath.forThisProcess
            if let option = kernelOptions.first {
                let isThere = access(path, F_OK) == 0
                self = .kernel(note: isThere ? "answered by the kernel: \(option) is not for the daemon" : nil)
                return
            }
            let isInEnvironment = SocketPath.processEnvironment("REACH_SOCKET")?.isEmpty == false
            self = .daemon(path: path, wasNamed: socket != nil || isInEnvironment)
        }

        /// The daemon, or the kernel if the daemon does not answer for this network namespace.
        var checked: Source {
            guard case .daemon(let path, wasNamed: false) = self else { return self }
            do throws(ControlError) {
                var client = try ControlClient(path: path, patience: .seconds(1))
                return try client.isInThisNamespace() ? self : .kernel(note: nil)
            } catch {
                return .kernel(note: Self.note(on: error))
            }
        }

        /// Asks the daemon.
        ///
        /// - Returns: The daemon's answer, or `nil` if the kernel replaces it; `self` is then the kernel.
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

        /// A sentence about a daemon that does not answer; `nil` if none runs, which is normal.
        private static func note(on error: ControlError) -> String? {
            if case .notRunning = error { return nil }
            return "answered by the kernel: \(DisplayText.sanitized(error.description))"
        }

        /// A line for people that names the source of the text above it, unless the kernel was the obvious one.
        ///
        /// - Parameter isDaemon: Whether the daemon answered.
        func note(isDaemon: Bool, _ style: TerminalStyle) -> String {
            let text: String? =
                if isDaemon { "answered by the daemon" } else if case .kernel(let note) = self { note } else { nil }
            return text.map { style.paint("(\($0))", .grey) + "\n" } ?? ""
        }
    }
}

extension CommandError {
    static func cannotAsk(_ error: ControlError) -> CommandError {
        CommandError(status: .cannotObserve, message: error.advice)
    }
}

extension ControlError {
    /// The error as a sentence, and the command that starts a daemon if none runs.
    var advice: String {
        guard case .notRunning(let path) = self else { return description }
        let usual = SocketPath.default(uid: getuid()) { $0 == "REACH_SOCKET" ? nil : SocketPath.processEnvironment($0) }
        let isUsual = path == usual || path == SocketPath.system
        return description + "; start one: "
            + (isUsual ? "systemctl start reachd, or reachd &" : "reachd --socket \(path) &")
    }
}
