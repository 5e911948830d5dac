internal import ArgumentParser
internal import CSystemdBus
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

/// The command `reach-desktop`.
struct DesktopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reach-desktop",
        abstract: "Show desktop programs what reachd sees, as NetworkManager would.",
        discussion: """
            Without --notify it offers the parts of NetworkManager's D-Bus interface that programs read, on the system \
            bus, where no NetworkManager runs. With --notify it shows a notification on the session bus when a network \
            wants a login.

            Exit status: 0 after SIGTERM, 2 usage, 69 the bus does not answer, 73 another program has NetworkManager's \
            name on the bus, 77 the bus does not allow to own it.

            Example: reach-desktop --notify
            """,
        version: "reach-desktop " + ProjectVersion.number)

    @Option(help: ArgumentHelp("The path of reachd's control socket.", valueName: "path"), completion: .file())
    var socket: String?

    @Flag(help: "Show notifications about portals, in a user's session.")
    var notify = false

    static func runAndExit() -> Never {
        StandardDescriptors.secure()
        do {
            var command = try parseAsRoot()
            if let command = command as? DesktopCommand { endProcess(command.serve().rawValue) }
            try command.run()
            endProcess(DesktopExit.success.rawValue)
        } catch {
            let code = exitCode(for: error)
            let message = fullMessage(for: error)
            guard code != .success else {
                StandardOutput.write(help: message)
                endProcess(DesktopExit.success.rawValue)
            }
            StandardError.write(quoting: UsageMessage.short(message, program: "reach-desktop"))
            endProcess(code == .validationFailure ? DesktopExit.usage.rawValue : code.rawValue)
        }
    }

    private func serve() -> DesktopExit {
        let signals = [SIGINT, SIGTERM]
        SignalSource.block(signals)
        do {
            let loop = try EventLoop()
            try SignalSource.watch(signals, on: loop) { _ in loop.stop() }
            let path = socket ?? SocketPath.forThisProcess
            return notify ? try showNotifications(path, loop) : try offerNetworkManager(path, loop)
        } catch let error as DesktopError {
            StandardError.write("reach-desktop: \(DisplayText.sanitized(error.message))\n")
            return error.status
        } catch {
            StandardError.write("reach-desktop: \(error)\n")
            return .unavailable
        }
    }

    private func offerNetworkManager(_ path: String, _ loop: EventLoop) throws(DesktopError) -> DesktopExit {
        let bus = try BusConnection(.system, on: loop)
        let service = try NetworkManagerService(bus: bus, on: loop)
        // Programs go offline by what they read, and stay so for seconds: NetworkManager waits for a lost link, too.
        let joined = JoinedChanges(on: loop) { service.handle(.target(.change($0.change))) }
        let watch = DaemonWatch(path: path, target: .internet, on: loop) { event in
            joined.add(event) { service.handle($0) }
        }
        sd_notify(0, "READY=1")
        loop.afterEvents { watch.start() }
        loop.run()
        watch.cancel()
        sd_notify(0, "STOPPING=1")
        service.leave()
        if let failure = bus.failure ?? service.failure { throw failure }
        return .success
    }

    private func showNotifications(_ path: String, _ loop: EventLoop) throws(DesktopError) -> DesktopExit {
        let bus = try BusConnection(.session, on: loop)
        let notifier = try PortalNotifier(bus: bus)
        let joined = JoinedChanges(on: loop) { notifier.handle(.target(.change($0.change))) }
        let watch = DaemonWatch(path: path, target: .internet, on: loop) { event in
            joined.add(event) { notifier.handle($0) }
        }
        sd_notify(0, "READY=1")
        loop.afterEvents { watch.start() }
        loop.run()
        watch.cancel()
        notifier.withdraw()
        if let failure = bus.failure { throw failure }
        return .success
    }
}

/// The exit statuses.
enum DesktopExit: CInt {
    case success = 0
    case usage = 2
    /// EX_UNAVAILABLE of sysexits.h: the bus does not answer.
    case unavailable = 69
    /// EX_CANTCREAT, as for a reachd whose socket belongs to another: another program has the name.
    case nameTaken = 73
    /// EX_NOPERM: the bus does not allow to own the name.
    case notPermitted = 77
}

/// Why the program ends.
struct DesktopError: Error {
    let status: DesktopExit
    let message: String
}
