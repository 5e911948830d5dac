extension FleetMachine {
    /// What is sent while the path is metered.
    package enum MeteredRule: String, Hashable, Sendable, CaseIterable {
        /// Everything is sent over metered paths, too.
        case all
        /// Lease and state are sent; events wait for another path.
        case state
        case nothing
    }

    package struct Settings: Hashable, Sendable {
        package var host: String
        /// A hash of the boot identifier.
        package var boot: String
        package var lease: Duration = .seconds(30)
        package var meteredLease: Duration = .seconds(600)
        package var metered: MeteredRule = .all
        package var spread: Duration = .seconds(60)

        package init(host: String, boot: String) {
            self.host = host
            self.boot = boot
        }
    }

    /// Counters and facts for people and programs.
    package struct Figures: Hashable, Sendable {
        package var acknowledged: UInt64 = 0
        /// Chunks that the engine had although their acknowledgement was lost.
        package var duplicates: UInt64 = 0
        package var dropped: UInt64 = 0
        package var reconnects: UInt64 = 0

        package init() {}
    }
}
