/// Counts how often an access point has refused a link in succession.
///
/// The kernel does not report a wrong password. It shows that the link waits for the access point (it is dormant), and
/// then that it lost the access point without ever having been let in.
package struct AdmissionCounter: Hashable, Sendable {
    /// One refusal may be a weak signal; supplicants try again within seconds.
    package static let refusalsThatCount = 2

    private var refusals: [InterfaceIndex: Int] = [:]

    package init() {}

    /// Whether the link was refused often enough for that to be the cause.
    package func isRefused(_ index: InterfaceIndex) -> Bool { refusals[index, default: 0] >= Self.refusalsThatCount }

    /// Compares a link with the same link before.
    package mutating func observe(_ new: Link, after old: Link?) {
        if new.isUsable || !new.isUp {
            forget(new.index)
        } else if let old, old.isAwaitingAdmission, !new.flags.contains(.lowerUp) {
            refusals[new.index, default: 0] += 1
        }
    }

    package mutating func forget(_ index: InterfaceIndex) {
        // Most machines have no link that was ever refused.
        if !refusals.isEmpty { refusals[index] = nil }
    }
}

extension Link {
    /// Whether the link has a carrier and waits for authentication.
    ///
    /// During a WPA handshake the kernel sets neither IFF_RUNNING nor IFF_DORMANT, only the state. It also reports that
    /// state when the carrier has just gone: wpa_supplicant sets it then.
    package var isAwaitingAdmission: Bool { !isUsable && operationalState == .dormant && flags.contains(.lowerUp) }
}
