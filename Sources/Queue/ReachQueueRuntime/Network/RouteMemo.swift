internal import ReachCore
internal import ReachQueue
internal import ReachTransfer

/// The last choice of ways: of many attempts to one server, the kernel is asked for the first alone.
///
/// Where every change of the routes is reported, the choice holds until the next report. Elsewhere, as for the
/// addresses of most names, it holds for the turn of the loop in which it was made.
struct RouteMemo {
    /// When a choice is asked for.
    struct Moment {
        /// The turn of the loop.
        var turn: UInt64
        /// ``QueueNetwork/routesVersion``.
        var version: UInt64
        var now: BootTime
    }

    private final class Entry {
        let situation: RouteSituation
        let choice: AttemptRouter.Choice
        let made: Moment
        let isReported: Bool

        init(_ situation: RouteSituation, _ choice: AttemptRouter.Choice, made: Moment, isReported: Bool) {
            (self.situation, self.choice, self.made, self.isReported) = (situation, choice, made, isReported)
        }
    }

    /// The kernel reports no routes that somebody adds to its table of local addresses by hand.
    private static let lifetime = Duration.milliseconds(100)

    private var last: Entry?

    /// The last choice, if it was made in the same situation and nothing has been reported since.
    func choice(
        for order: AttemptOrder, _ target: RouteTarget, _ addresses: [IPAddress], zone: String?, at moment: Moment
    ) -> AttemptRouter.Choice? {
        guard let last, last.made.version == moment.version,
            last.made.turn == moment.turn || last.isReported && moment.now - last.made.now < Self.lifetime,
            last.situation.isThat(of: order, target, addresses, zone: zone)
        else { return nil }
        return last.choice
    }

    /// Notes a choice; `nil` while routes are not known.
    ///
    /// - Parameters:
    ///   - moment: After the choice: to make it, a change may have been found.
    ///   - isReported: Whether a change of these routes raises the version.
    mutating func note(
        _ choice: AttemptRouter.Choice?, in situation: @autoclosure () -> RouteSituation, at moment: Moment,
        isReported: Bool
    ) {
        last = choice.map { Entry(situation(), $0, made: moment, isReported: isReported) }
    }

    /// Forgets the choice, since the network has changed.
    mutating func forget() { last = nil }
}

/// All that decides about the ways of an attempt, but for the network.
struct RouteSituation {
    private let destination: Destination
    /// The interface of the ordered path; the others follow from the network.
    private let interface: UInt32
    private let isUncertain: Bool
    private let condition: NetworkCondition
    private let exposesSecrets: Bool
    private let bar: MeteredBar
    private let scheme: String
    private let host: String
    private let port: UInt16
    private let proxy: TransferProxy
    private let addresses: [IPAddress]
    private let zone: String?

    init(_ order: AttemptOrder, _ target: RouteTarget, _ addresses: [IPAddress], zone: String?) {
        (destination, interface, condition) = (order.destination, order.path.interfaceIndex, order.condition)
        (exposesSecrets, bar, isUncertain) = (order.exposesSecrets, order.bar, order.path.isUncertain)
        (scheme, host, port) = (target.url.scheme, target.url.host, target.url.port)
        (proxy, self.addresses, self.zone) = (target.proxy, addresses, zone)
    }

    /// Whether this is the situation of such an attempt. Every attempt asks: nothing is copied to compare.
    func isThat(
        of order: AttemptOrder, _ target: RouteTarget, _ addresses: [IPAddress], zone: String?
    ) -> Bool {
        interface == order.path.interfaceIndex && exposesSecrets == order.exposesSecrets && port == target.url.port
            && host == target.url.host && scheme == target.url.scheme && destination == order.destination
            && self.addresses == addresses && self.zone == zone && condition == order.condition
            && proxy == target.proxy && bar == order.bar && isUncertain == order.path.isUncertain
    }
}

/// What the way of a transfer depends on; the rest of its request need not be kept for that.
struct RouteTarget {
    let url: TransferURL
    let proxy: TransferProxy
    /// What it goes by where routes are not known.
    let interface: InterfaceBinding?

    init(_ transfer: TransferRequest) {
        (url, proxy, interface) = (transfer.url, transfer.proxy, transfer.interface)
    }
}
