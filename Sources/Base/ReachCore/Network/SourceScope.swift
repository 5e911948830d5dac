/// Whether a source can reach a destination, by what their addresses mean: the kernel has a route for either.
///
/// A unique local address (RFC 4193) counts as wide. It reaches the Internet wherever a router or a tunnel's far end
/// translates it, as for containers and by many VPNs, and nothing on this machine shows whether one does.
package enum SourceScope {
    /// - Parameters:
    ///   - isByDefault: Whether the route is one for all addresses, and not for a network that may be on the link.
    ///   - resolves: Whether the link finds hosts by their addresses, as Ethernet does. A tunnel may translate.
    package static func reaches(
        _ destination: IPAddress, from source: IPAddress, via gateway: IPAddress?, isByDefault: Bool, resolves: Bool
    ) -> Bool {
        guard source.isLinkLocal, !destination.isLinkLocal, !destination.isMulticast else { return true }
        // No router forwards it, and the kernel chooses one only where it has no other (RFC 4291, 2.5.6).
        guard source.family == .ipv4 else { return false }
        // An address of 169.254.0.0/16 is what a machine gives itself where no DHCP server answers. Its default route
        // leads to the link itself, on which a private address may be, but no host of the Internet is; and no router
        // forwards it (RFC 3927, 2.7). One with a gateway was configured on purpose: by virtual machines whose host
        // translates it.
        return gateway != nil || !isByDefault || !resolves || destination.scope <= .site
    }
}
