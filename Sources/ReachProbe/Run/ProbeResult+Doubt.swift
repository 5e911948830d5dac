package import ReachCore

extension ProbeResult {
    /// It may be the Internet's fault, and not the target's: whoever believes that the Internet is there should look again.
    ///
    /// Answers in the target's place are among them, since portals give some. What was answered rightly, but late or by a
    /// certificate that ends soon, is none; and neither is what a host of one's own network does, but for name servers, which
    /// ask others.
    ///
    /// - Parameter target: What was tried.
    package func castsDoubtOnInternet(by target: ProbeTarget) -> Bool {
        guard case .fail(let failure) = outcome, failure != .latency, failure != .certificateEnding else {
            return false
        }
        if target.kind == .dns { return true }
        return partner(by: target).map { !PublicName.isPrivate($0) } ?? true
    }

    /// Somebody beyond one's own networks answered: an Internet that was not there may be back. Portals let names be resolved.
    package func speaksForInternet(by target: ProbeTarget) -> Bool {
        guard outcome == .ok, target.kind != .dns, let partner = partner(by: target) else { return false }
        return !PublicName.isPrivate(partner)
    }

    /// Whom it spoke to, or was to speak to.
    private func partner(by target: ProbeTarget) -> IPAddress? {
        if let address { return address }
        guard case .address(let own, _) = target.host else { return nil }
        return own
    }
}
