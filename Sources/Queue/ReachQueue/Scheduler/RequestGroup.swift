internal import ReachCore

typealias GroupIndex = SlabIndex<RequestGroup>

/// The requests of one condition: they start and pause together. Where the destination may have a path of its own, or
/// the condition asks for the request's own host, those of one destination.
struct RequestGroup: Sendable {
    struct Key: Hashable, Sendable {
        let condition: NetworkCondition
        /// `nil` for all destinations that are reached by the default routes.
        let destination: Destination?
        /// Whether they wait while something else than the Internet answers.
        var exposesSecrets = false
        /// The interceptor that prepares them. Requests of an interceptor have lines of their own, so that the one by
        /// which it fetches a token does not wait behind those that wait for the token.
        var interceptor: String?
        /// The budgets for metered links that hold them back.
        var payer = MeteredPayer.exempt
    }

    let key: Key
    var gate: PathGate
    /// The path of its attempts while the gate is open.
    var path: QueuePath?
    /// The path to the destination, if it is known; only where the condition asks for the host.
    var targetPath: QueuePath?
    var isTargetKnown = false
    var channel: ChannelIndex?
    var networkWaits = DeadlineQueue<Slot>()
    var destinationWaits = DeadlineQueue<Slot>()
    /// How many requests belong to it.
    var count = 0
    /// How many of them an interceptor prepares.
    var preparing = 0
    /// The epoch whose waits after network failures are cut; when it is behind, they are to be.
    var epoch: UInt64
    var cutWaitsAt: BootTime?
    /// ``Gates/generation`` when it last gained a path. Destinations are then approached slowly.
    var generation: UInt32 = 0

    init(_ key: Key, gate: PathGate, epoch: UInt64) {
        self.key = key
        self.gate = gate
        self.epoch = epoch
    }

    /// The earliest of its requests' own deadlines.
    var earliestWait: BootTime? {
        switch (networkWaits.earliest, destinationWaits.earliest) {
        case (let first?, let second?): min(first, second)
        case (let only, nil), (nil, let only): only
        }
    }
}
