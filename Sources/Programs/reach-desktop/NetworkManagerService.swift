internal import CSystemdBus
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachDesktop
internal import ReachLoop

/// Offers NetworkManager's name and objects on the bus, while the state of the Internet is known.
///
/// It never takes the name from another program, and does not wait for it: it ends where NetworkManager runs. Whoever
/// asks the bus to replace the owner gets the name.
final class NetworkManagerService {
    private let bus: BusConnection
    private let loop: EventLoop
    private var tree = BusTree()
    private var hasName = false
    /// Why the service has ended, which stops the loop.
    private(set) var failure: DesktopError?

    private static let name = NetworkManagerTree.service

    init(bus: BusConnection, on loop: EventLoop) throws(DesktopError) {
        self.bus = bus
        self.loop = loop
        // Before reachd answers, too: a service manager learns at once that this is not for this machine.
        if sd_bus_get_name_creds(bus.bus, Self.name, 0, nil) >= 0 { throw Self.taken }
        try bus.serve { [unowned self] (call) throws(BusFailure) in try NetworkManagerAnswers.answer(call, from: tree) }
        try bus.match(
            "sender='\(BusConnection.driver)',interface='org.freedesktop.DBus',member='NameLost',arg0='\(Self.name)'",
            from: { BusConnection.driver }
        ) { [unowned self] _ in
            guard hasName else { return }
            hasName = false
            end(Self.taken)
        }
    }

    func handle(_ event: StreamEvent) {
        guard let state = event.state, failure == nil else { return }
        let index: (String) -> InterfaceIndex? = {
            LinkName.index(of: $0).flatMap(InterfaceIndex.init(exactly:))
        }
        guard let next = NetworkManagerTree.make(state, index: index) else {
            // Programs then do as where there is no NetworkManager, which is better than taking it for offline.
            return leave()
        }
        let earlier = tree
        tree = next
        if hasName {
            for signal in NetworkManagerTree.signals(from: earlier, to: next) { bus.emit(signal) }
        } else {
            acquire()
        }
    }

    /// Gives the name back.
    func leave() {
        guard hasName else { return }
        hasName = false
        _ = sd_bus_release_name(bus.bus, Self.name)
    }

    private func acquire() {
        let result = sd_bus_request_name(bus.bus, Self.name, UInt64(SD_BUS_NAME_ALLOW_REPLACEMENT))
        switch -result {
        case EEXIST: end(Self.taken)
        case EPERM, EACCES:
            let message = "the bus does not allow this user to own \(Self.name): io.reach.Desktop.conf says who may"
            end(DesktopError(status: .notPermitted, message: message))
        case let number where number > 0 && result != -EALREADY:
            end(BusConnection.unavailable("cannot get the name \(Self.name)", result))
        default: hasName = true
        }
    }

    private static let taken = DesktopError(
        status: .nameTaken,
        message: "another program has \(name) on the bus: where NetworkManager runs, this is not needed")

    private func end(_ error: DesktopError) {
        failure = error
        loop.stop()
    }
}
