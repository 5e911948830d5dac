package import ReachCore

extension ReachabilityEngine {
    /// The options of an engine, which ``apply(_:because:)`` replaces.
    package struct Options: Sendable {
        /// The reference addresses, which stand for the Internet.
        package var anchors: [IPAddress] = ReferenceAddresses.standard
        /// The time for which a change of status must last before it is reported.
        package var holdDown = HoldDown()
        /// The firewall mark of the packets whose paths count; `nil` for packets without one.
        package var mark: UInt32?
        /// The options of the observer, including the policy for the classes of links.
        package var observer = KernelObserver.Options()
        /// The time for which the last state stays, marked stale, once the kernel can no longer be observed. Then the
        /// state is unknown. It is long enough for a resync in a storm.
        package var stalePatience: Duration = .seconds(10)
        /// The time that a new watch waits for its name to be resolved, before it begins with "unknown".
        package var namePatience: Duration = .seconds(2)

        /// What is known of the leases of links at the start; `nil` where no one reads leases.
        package var leases: LeaseFindings?

        package init() {}
    }
}
