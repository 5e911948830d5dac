package import ReachCore

extension ProbeResult {
    /// Whether the Internet, and not the target, may be the cause of a failure, so that connectivity should be
    /// validated again.
    ///
    /// This includes wrong answers, since a portal may have given them. It excludes right answers that were late, were
    /// not all of them, or came with a certificate that ends soon. It also excludes hosts of the local network, except
    /// name servers, which forward questions to the Internet.
    ///
    /// - Parameter target: The probe's target.
    package func suggestsOutage(for target: ProbeTarget) -> Bool {
        guard case .fail(let failure) = outcome, failure != .latency, failure != .certificateEnding,
            failure != .loss
        else {
            return false
        }
        if target.kind == .dns { return true }
        return peer(of: target).map { !PublicName.isPrivate($0) } ?? true
    }

    /// Whether a host beyond the local networks answered, so that a lost Internet may be back. An answer by DNS does
    /// not count, since portals let names be resolved.
    package func suggestsInternet(for target: ProbeTarget) -> Bool {
        guard outcome == .ok, target.kind != .dns, let peer = peer(of: target) else { return false }
        return !PublicName.isPrivate(peer)
    }

    /// The address the attempt used, or the one the target names.
    private func peer(of target: ProbeTarget) -> IPAddress? {
        if let address { return address }
        guard case .address(let literal, _) = target.host else { return nil }
        return literal
    }
}
