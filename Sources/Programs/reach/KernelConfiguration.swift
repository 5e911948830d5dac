internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop

extension ReachabilityEngine.Options {
    /// Adds what reach.toml(5) says of links and networks, after the options of the command: the user's own file first, then the
    /// machine's. Without a file nothing is started.
    ///
    /// - Throws: ``CommandError`` where a file cannot be read: no one knows then which links cost money.
    mutating func addConfiguration() throws(CommandError) {
        for directory in Self.directories where Self.hasFile(directory) {
            let policy = try ProbeProgram.policy(file: directory + "/reach.toml")
            guard !policy.needsDaemon else {
                throw CommandError(
                    status: .cannotObserve,
                    message:
                        "\(DisplayText.sanitized(directory))/reach.toml names networks by their pvd, which needs reachd; "
                        + "reachd does not run, or --no-daemon leaves it out")
            }
            observer.policy.rules += policy.rules
            observer.policy.networks.rules += policy.networks
        }
    }

    private static var directories: [String] {
        let own =
            SocketPath.processEnvironment("XDG_CONFIG_HOME").flatMap { $0.hasUTF8Prefix("/") ? $0 : nil }
            ?? SocketPath.processEnvironment("HOME").map { $0 + "/.config" }
        return (getuid() == 0 ? [] : own.map { [$0 + "/reach"] } ?? []) + ["/etc/reach"]
    }

    /// Whether there is a configuration, which may be one that cannot be read.
    private static func hasFile(_ directory: String) -> Bool {
        [directory + "/reach.toml", directory + "/reach.d"].contains { (path: String) -> Bool in
            access(path, F_OK) == 0 || errno != ENOENT
        }
    }
}
