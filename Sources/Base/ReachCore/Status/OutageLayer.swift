/// The part of the way to a target that failed. The raw values are words of the interface.
package enum OutageLayer: String, Hashable, Sendable, CaseIterable {
    /// The link is down, has no carrier, waits for authentication, or is gone.
    case link
    /// There is no usable address to send from.
    case address
    /// There is no route, or one that rejects or discards packets.
    case route
    /// The gateway, or the host itself on this machine's own link, does not answer.
    case gateway
    /// The name has no address.
    case name
    /// A login page answers instead of the Internet.
    case portal
    /// There is a path, but nothing answered behind it: the provider failed, or something behind the provider.
    case internet
    /// What a probe tests did not answer as it should.
    case target
}
