package import ReachCore
package import ReachKernel
package import ReachQueue

/// The network as the queue sees it. Confined to the loop, on which the handlers are called.
package protocol QueueNetwork: AnyObject {
    /// Calls `handler` with the network, once it is determined, and with every change; with `nil` while the kernel cannot be
    /// observed.
    ///
    /// - Returns: Ends the calls.
    func followNetwork(_ handler: @escaping (NetworkSnapshot?) -> Void) -> () -> Void

    /// Calls `handler` with the state of a target, once it is determined, with every change, and when the machine wakes.
    ///
    /// - Parameter owner: The user whose request waits for it; `nil` for this program.
    /// - Returns: Ends the calls.
    func watch(
        _ target: Target, for owner: UInt32?, _ handler: @escaping (QueueNetworkEvent) -> Void
    ) -> () -> Void
}

extension QueueNetwork {
    package func watch(_ target: Target, _ handler: @escaping (QueueNetworkEvent) -> Void) -> () -> Void {
        watch(target, for: nil, handler)
    }
}

package enum QueueNetworkEvent: Sendable {
    case state(ReachabilityState)
    case woke
}

extension ReachabilityEngine: QueueNetwork {
    package func followNetwork(_ handler: @escaping (NetworkSnapshot?) -> Void) -> () -> Void {
        let id = watchNetwork(handler)
        return { [weak self] in self?.unwatch(id) }
    }

    package func watch(
        _ target: Target, for owner: UInt32?, _ handler: @escaping (QueueNetworkEvent) -> Void
    ) -> () -> Void {
        let id = watch(target, for: owner) { (event: EngineEvent) in
            switch event {
            case .change(let change): handler(.state(change.state))
            case .wake: handler(.woke)
            case .resync, .notice: break
            }
        }
        return { [weak self] in self?.unwatch(id) }
    }
}

/// Whoever can find out whether a path works, by sending something over it. Confined to the loop.
package protocol PathChecker: AnyObject {
    /// - Parameter reply: Called once, on the loop, later; `nil` where it cannot be said.
    func check(_ path: QueuePath, reply: @escaping (Bool?) -> Void)
}
