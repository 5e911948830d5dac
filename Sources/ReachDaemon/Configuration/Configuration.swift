internal import ReachControl
package import ReachCore
internal import ReachEngine
package import ReachProbe
internal import ReachQueue

/// What the user says in `reach.toml`. Without a file, everything is as it stands here.
///
/// What each key means is in reach.toml(5); ``tables`` says how they are read.
package struct Configuration: Hashable, Sendable {
    package struct Internet: Hashable, Sendable {
        /// Addresses that stand for the Internet.
        package var anchors: [IPAddress] = Anchors.standard
        /// The firewall mark of the packets whose way is asked for; 0 is none.
        package var mark: UInt32 = 0
    }

    /// A target that is watched from the start, and can be asked for by this name.
    package struct NamedTarget: Hashable, Sendable {
        package let name: String
        package let target: Target
    }

    /// What holds for the interfaces that fit a pattern.
    package struct InterfaceRule: Hashable, Sendable {
        package var match = Glob("")
        package var linkClass: LinkClass?
        package var metered: Bool?
    }

    package struct Connectivity: Hashable, Sendable {
        /// Pages that answer in a known way; none validates nothing.
        package var endpoints: [ConnectivityEndpoint] = []
        /// Between two checks of a path that works.
        package var interval = ValidationOptions().interval
        /// For one check.
        package var timeout: Duration = .seconds(5)
        /// So many failures in a row end "full".
        package var demoteAfter = ValidationOptions().strikesToDemote
        /// So many proofs in a row bring it back.
        package var promoteAfter = ValidationOptions().strikesToPromote
        /// For checks by metered interfaces; 0 is without limit.
        package var meteredBytesPerDay = ValidationOptions().meteredBytesPerDay
    }

    package struct Hold: Hashable, Sendable {
        package var up: Duration = .zero
        package var down: Duration = .zero
        /// Zero is ten times the longer of the two.
        package var maximum: Duration = .zero
    }

    package struct Limits: Hashable, Sendable {
        /// Clients at a time.
        package var connections = ControlLimits().connections
        /// Clients at a time of one user.
        package var connectionsPerUser = ControlLimits().connectionsPerUser
        /// Different targets that are watched at a time.
        package var targets = ControlLimits().targets
        /// Events kept for clients that have yet to read them, for each target, before some are left out.
        package var pendingBytes = ControlLimits().backlogBytes
    }

    package struct Socket: Hashable, Sendable {
        /// `nil` is where everybody looks for it.
        package var path: String?
        /// Whose members may change things, besides root and the daemon's own user.
        package var group: String?
    }

    package struct Hooks: Hashable, Sendable {
        /// `nil` is `hooks.d` beside the default configuration.
        package var directory: String?
        package var timeout: Duration = .seconds(30)
    }

    /// What holds for all probes.
    package struct Probes: Hashable, Sendable {
        /// Attempts at a time.
        package var concurrency = 16
        /// Each result is an event, and not only what changes.
        package var results = false
    }

    package struct Metrics: Hashable, Sendable {
        /// Where Prometheus finds them; `nil` is nowhere.
        package var listen: SocketPlace?
        /// The file they are written to; `nil` is none.
        package var file: String?
        /// How often the file is written.
        package var interval: Duration = .seconds(15)
    }

    package struct History: Hashable, Sendable {
        /// How many changes are kept at least; 0 keeps none.
        package var entries = 10_000
        /// `nil` is the daemon's state directory.
        package var directory: String?
    }

    package struct Queue: Hashable, Sendable {
        /// Kept in the daemon's state directory, where there is one.
        package var isEnabled = true
        /// How many requests that are not over are taken, in all and of one user; and how many bytes of them.
        package var requests = QueueLimits().requests
        package var requestsPerUser = QueueLimits().ownerRequests
        package var bytes = Int(QueueLimits().bytes)
        package var bytesPerUser = Int(QueueLimits().ownerBytes)
        /// Attempts at a time, in all and to one destination.
        package var concurrency = QueuePolicy().globalLimit
        package var concurrencyPerDestination = QueuePolicy().destinationLimit
        /// How long a request may wait that does not say.
        package var expires = QueuePolicy().timeToLive
        /// The longest answer that is taken.
        package var answerBytes = QueueLimits.answerBytes
        /// What is kept of one user's requests that are done or cancelled, and of dead ones.
        package var keepResults = QueuePolicy().resultCount
        package var keepResultsBytes = Int(QueuePolicy().resultBytes)
        package var keepResultsFor = QueuePolicy().resultLifetime
        package var keepDead = QueuePolicy().deadCount
        package var keepDeadBytes = Int(QueuePolicy().deadBytes)
        package var keepDeadFor = QueuePolicy().deadLifetime
        /// How long one attempt may take; zero is without limit. Half a day: what is larger than fits into it and cannot
        /// be resumed is rare, and a slot that is kept longer is lost to others.
        package var attemptTime: Duration = .seconds(12 * 3600)
        /// Bytes a second that must move in each minute of an attempt. Far below what any network in use carries, and
        /// above what keeps a connection open for the sake of it.
        package var leastRate = 8
    }

    package var logLevel = LogLevel.info
    package var internet = Internet()
    package var targets: [NamedTarget] = []
    /// In order: the first that fits an interface and says it decides.
    package var interfaces: [InterfaceRule] = []
    package var connectivity = Connectivity()
    package var hold = Hold()
    package var limits = Limits()
    package var socket = Socket()
    package var hooks = Hooks()
    package var history = History()
    package var queue = Queue()
    package var probes: [ProbeEntry] = []
    package var probing = Probes()
    package var metrics = Metrics()

    package init() {}

    /// The target of this name.
    package func target(named name: String) -> Target? { targets.first { $0.name == name }?.target }
}
