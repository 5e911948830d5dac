internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachTerminal

/// What a command asks the kernel with: its options, then what reach.toml(5) says, first the user's own file, then the
/// machine's. Without a file nothing is started.
struct KernelConfiguration {
    private(set) var options: ReachabilityEngine.Options
    private var targets: [ObservationPolicy.NamedTarget] = []

    /// - Parameter isRequired: Whether no answer is better than one without the files. Otherwise an error of a file is
    ///   printed, and the file is left out.
    /// - Throws: ``CommandError`` where a file is required and cannot be read: no one knows then which links cost
    ///   money.
    init(_ options: ReachabilityEngine.Options, isRequired: Bool = false) throws(CommandError) {
        self.options = options
        for directory in Self.directories where Self.hasFile(directory) {
            do throws(CommandError) {
                try add(try ProbeProgram.policy(file: directory + "/reach.toml"), of: directory, isRequired: isRequired)
            } catch {
                if isRequired { throw error }
                let reason = error.message.map { $0 + "; " } ?? ""
                // The reason names the file, which may be one of reach.d.
                StandardError.write(
                    "reach: \(reason)the configuration in \(DisplayText.sanitized(directory)) is left out of what "
                        + "follows\n"
                )
            }
        }
    }

    private mutating func add(
        _ policy: ObservationPolicy, of directory: String, isRequired: Bool
    ) throws(CommandError) {
        if isRequired, policy.needsDaemon {
            throw CommandError(
                status: .cannotObserve,
                message:
                    "\(DisplayText.sanitized(directory))/reach.toml names networks by their pvd, which needs reachd; "
                    + "reachd does not run, or --no-daemon leaves it out")
        }
        if options.anchors == ReferenceAddresses.standard, let anchors = policy.anchors { options.anchors = anchors }
        options.mark = options.mark ?? policy.mark
        options.proxy = options.proxy ?? policy.proxy
        if options.holdDown == HoldDown() { options.holdDown = policy.hold }
        options.observer.policy.rules += policy.rules
        options.observer.policy.networks.rules += policy.networks
        targets += policy.targets
    }

    /// The target that a file calls so, or else the given one.
    func target(_ given: Target) -> Target { targets.first { $0.name == given.description }?.target ?? given }

    /// The name that a file gives to a target.
    func name(of target: Target) -> String? { targets.first { $0.target == target }?.name }

    var names: [String] { targets.map(\.name) }

    /// Whether a network is known by its Wi-Fi, which takes a library to ask for.
    var namesWireless: Bool {
        options.observer.policy.networks.rules.contains { !$0.ssids.isEmpty || !$0.bssids.isEmpty }
    }

    private static var directories: [String] {
        let printed =
            SocketPath.processEnvironment("XDG_CONFIG_HOME").flatMap { $0.hasUTF8Prefix("/") ? $0 : nil }
            ?? SocketPath.processEnvironment("HOME").map { $0 + "/.config" }
        return (getuid() == 0 ? [] : printed.map { [$0 + "/reach"] } ?? []) + ["/etc/reach"]
    }

    /// Whether there is a configuration, which may be one that cannot be read.
    private static func hasFile(_ directory: String) -> Bool {
        [directory + "/reach.toml", directory + "/reach.d"].contains { (path: String) -> Bool in
            access(path, F_OK) == 0 || errno != ENOENT
        }
    }
}
