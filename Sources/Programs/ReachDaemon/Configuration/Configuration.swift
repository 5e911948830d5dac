internal import ReachControl
package import ReachCore
internal import ReachKernel
package import ReachLoop
package import ReachProbe
package import ReachQueue

/// The contents of `reach.toml`. The initial values are the defaults.
///
/// reach.toml(5) describes each key; ``tables`` defines how they are read.
package struct Configuration: Hashable, Sendable {
    package struct Internet: Hashable, Sendable {
        /// The addresses that represent the Internet.
        package var anchors: [IPAddress] = ReferenceAddresses.standard
        /// The firewall mark of the packets whose route is queried; 0 means none.
        package var mark: UInt32 = 0
    }

    /// The properties of the interfaces whose names match a pattern.
    package struct InterfaceRule: Hashable, Sendable {
        package var match = Glob("")
        package var linkClass: LinkClass?
        package var metered: Bool?
        /// Whether packets may leave by the interface past a tunnel.
        package var passesTunnels: Bool?
        /// The queue's budget for these links together, while they are metered.
        package var meteredBudget: MeteredBudget?
    }

    package struct Connectivity: Hashable, Sendable {
        /// Pages with a known answer. Without any, connectivity is not checked.
        package var endpoints: [ConnectivityEndpoint] = []
        /// The time between two checks of a working path.
        package var interval = ValidationOptions().interval
        /// The time limit of one check.
        package var timeout: Duration = .seconds(5)
        /// Consecutive failures that end "full" connectivity.
        package var demoteAfter = ValidationOptions().strikesToDemote
        /// Consecutive successes that restore it.
        package var promoteAfter = ValidationOptions().strikesToPromote
        /// Whether the APIs of portals that networks announce are asked.
        package var portalAPI = ValidationOptions().asksPortals
        /// Whether TCP connections are watched for silence.
        package var detectSilence = ValidationOptions.detectsSilence
        /// Whether it is measured what lines are like, and also that of metered ones.
        package var quality = false
        package var qualityOnMetered = false
        /// Whether lines are measured: the servers that answered checks are asked.
        var measuresQuality: Bool { quality && !endpoints.isEmpty }
        /// The daily limit of checks over metered interfaces; 0 means no limit.
        package var meteredBytesPerDay = ValidationOptions().meteredBytesPerDay
        /// By which the endpoints are asked.
        package var proxies = ProxyTable()
    }

    package struct Hold: Hashable, Sendable {
        package var up: Duration = .zero
        package var down: Duration = .zero
        /// Zero means ten times the longer of `up` and `down`.
        package var maximum: Duration = .zero
        /// How long hooks and the log wait for a lost link; zero reports at once.
        package var flaps: Duration = FlapJoiner.Patience().link
    }

    package struct Limits: Hashable, Sendable {
        /// The number of clients at the same time.
        package var connections = ControlLimits().connections
        /// The number of one user's clients at the same time.
        package var connectionsPerUser = ControlLimits().connectionsPerUser
        /// The number of distinct targets watched at the same time.
        package var targets = ControlLimits().targets
        /// Bytes of unread events kept for each client and target before events are dropped.
        package var pendingBytes = ControlLimits().backlogBytes
    }

    package struct Socket: Hashable, Sendable {
        /// `nil` means the default path.
        package var path: String?
        /// The group whose members may make changes, besides root and the daemon's own user.
        package var group: String?
    }

    package struct Hooks: Hashable, Sendable {
        /// What hooks can be run for. The raw values are words of the file.
        package enum Event: String, Hashable, Sendable, CaseIterable {
            /// The state of the Internet or of a configured target changed.
            case change
            /// What a probe tests works again, or no longer.
            case probe
            /// A request was answered.
            case requestDone = "request-done"
            /// A request will not be tried again.
            case requestDead = "request-dead"
            /// A share of a budget for metered links is used.
            case meteredBudget = "metered-budget"

            var isOfQueue: Bool {
                switch self {
                case .requestDone, .requestDead, .meteredBudget: true
                case .change, .probe: false
                }
            }
        }

        /// `nil` means `hooks.d` next to the default configuration file.
        package var directory: String?
        package var timeout: Duration = .seconds(30)
        /// The path that an event must concern.
        package var condition = NetworkCondition.any
        /// What hooks are run for.
        package var events: [Event] = [.change]
    }

    /// A program that is run for one target.
    package struct TargetHook: Hashable, Sendable {
        /// Its name in the configuration, or `internet`.
        package var target = ""
        package var program: String?
    }

    /// The settings of all probes.
    package struct Probes: Hashable, Sendable {
        /// The number of attempts at the same time.
        package var concurrency = 16
        /// Whether every result is an event, not only changes of state.
        package var results = false
        /// Whether results are kept for years, in a file for each probe.
        package var isArchived = false
    }

    package struct Metrics: Hashable, Sendable {
        /// The address that Prometheus scrapes; `nil` means none.
        package var listen: ListenAddress?
        /// The file that the metrics are written to; `nil` means none.
        package var file: String?
        /// How often the file is written.
        package var interval: Duration = .seconds(15)
    }

    package struct Page: Hashable, Sendable {
        /// The directory that the page of this machine is written into; `nil` means none.
        package var directory: String?
    }

    package struct History: Hashable, Sendable {
        /// The least number of changes that are kept; 0 disables the history.
        package var entries = 10_000
        /// `nil` means the daemon's state directory.
        package var directory: String?
        /// Whether the way is tested while the Internet is lost, and what is found is kept.
        package var testsOutages = false
    }

    package struct Journal: Hashable, Sendable {
        /// The kinds of events that are recorded; without any there is no journal.
        package var events: [JournalKind] = JournalKind.usual
        /// The most bytes of all files.
        package var bytes = JournalOptions().bytes
        /// The age at which events are deleted.
        package var age = JournalOptions().age
        /// The group whose members may read all events, besides root and the daemon's own user.
        package var group: String?
    }

    package struct Queue: Hashable, Sendable {
        /// The queue also needs a state directory.
        package var isEnabled = true
        /// What it decides by. Its bytes are left to the disk, of which it may use a share.
        package var policy = QueuePolicy.ofDisk
        /// The size of the longest response that is accepted.
        package var answerBytes = UInt64(QueueLimits.answerBytes)
        /// The time limit of one attempt; `nil` means none. Transfers that need more than half a day and cannot be
        /// resumed are rare, and a longer attempt keeps its slot from other requests.
        package var attemptTime: Duration? = .seconds(12 * 3600)
        /// The least rate, in bytes a second, of each minute of an attempt. It is far below the rate of any network in
        /// use, and above that of a connection that is merely kept open.
        package var leastRate: UInt64 = 8
        /// By which requests are sent; without any key, those of the connectivity checks.
        package var proxies = ProxyTable()
        /// The group whose members may hold the queue for the fleet, besides root and the daemon's own user.
        package var fleetGroup: String?
    }

    package var logLevel = LogLevel.info
    package var internet = Internet()
    package var targets = NamedTargets()
    /// The rules in order. For each property, the first matching rule that sets it applies.
    package var interfaces: [InterfaceRule] = []
    /// The networks that have names, in order: the first that matches names a network.
    package var networks: [NetworkEntry] = []
    package var connectivity = Connectivity()
    package var hold = Hold()
    package var limits = Limits()
    package var socket = Socket()
    package var hooks = Hooks()
    package var targetHooks: [TargetHook] = []
    package var history = History()
    package var journal = Journal()
    package var queue = Queue()
    package var probes: [ProbeEntry] = []
    package var probeTemplates: [ProbeEntry] = []
    package var probing = Probes()
    package var metrics = Metrics()
    package var page = Page()
}

/// The configured log level: messages of this level and more severe ones are logged.
package enum LogLevel: String, Hashable, CaseIterable, Sendable {
    case debug, info, notice, warning, error
}

extension QueuePolicy {
    fileprivate static var ofDisk: QueuePolicy {
        var policy = QueuePolicy()
        (policy.limits.bytes, policy.limits.ownerBytes) = (nil, nil)
        return policy
    }
}
