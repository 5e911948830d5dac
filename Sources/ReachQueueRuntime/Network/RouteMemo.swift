internal import ReachCore
internal import ReachQueue
internal import ReachTransfer

/// The last choice of ways. Of many attempts to one server that begin in one turn of the loop, the kernel is asked for the
/// first alone.
struct RouteMemo {
    private var last: (situation: RouteSituation, choice: AttemptRouter.Choice)?

    /// The last choice, if it was made in the same situation.
    func choice(in situation: RouteSituation) -> AttemptRouter.Choice? {
        if let last, last.situation == situation { last.choice } else { nil }
    }

    /// Notes a choice; `nil` while routes are not known.
    mutating func note(_ choice: AttemptRouter.Choice?, in situation: RouteSituation) {
        last = choice.map { (situation, $0) }
    }

    /// Forgets the choice, since the network has changed.
    mutating func forget() { last = nil }
}

/// All that decides about the ways of an attempt, but for the network. Within one turn of the loop, and with no notice of a
/// change since, attempts in the same situation go the same ways.
struct RouteSituation: Equatable {
    private let turn: UInt64
    private let destination: Destination
    private let path: QueuePath
    private let condition: NetworkCondition
    private let isRevealing: Bool
    private let scheme: String
    private let host: String
    private let port: UInt16
    private let proxy: TransferProxy
    private let addresses: [IPAddress]
    private let zone: String?

    init(
        _ order: AttemptOrder, _ transfer: TransferRequest, _ addresses: [IPAddress], zone: String?, turn: UInt64
    ) {
        self.turn = turn
        (destination, path, condition) = (order.destination, order.path, order.condition)
        isRevealing = order.isRevealing
        (scheme, host, port) = (transfer.url.scheme, transfer.url.host, transfer.url.port)
        (proxy, self.addresses, self.zone) = (transfer.proxy, addresses, zone)
    }
}
