package import ReachCore

/// What an engine is told once, at its start.
package struct EngineOptions: Sendable {
    /// Addresses that stand for the Internet.
    package var anchors: [IPAddress] = ReferenceAddresses.standard
    package var holdDown = HoldDown()
    /// Look up paths for packets with this firewall mark.
    package var mark: UInt32?
    package var observer = KernelObserver.Options()
    /// How long what was last known is told, marked stale, when the kernel can no longer be observed. Then it is
    /// unknown. Long enough for a resync in a storm.
    package var stalePatience: Duration = .seconds(10)
    /// How long a new watch waits for its name to be resolved, before it begins with "unknown".
    package var namePatience: Duration = .seconds(2)

    package init() {}
}
