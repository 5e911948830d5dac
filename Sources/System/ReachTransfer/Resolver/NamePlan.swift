package import ReachCore

/// Which service resolves a name, decided by the question and the machine's files: a value.
///
/// The system's resolver handles multicast DNS and the other modules of nsswitch.conf(5), but sends its queries over
/// the interface that routing prefers. So a question that is bound to an interface goes to the name servers over that
/// interface, by the rules of resolv.conf(5), unless DNS cannot know the name.
package enum NamePlan: Hashable, Sendable {
    /// The addresses are known without a query.
    case known([IPAddress])
    /// The name servers.
    case servers
    /// The system's resolver.
    ///
    /// - servesAlone: DNS cannot know the name. Otherwise the name servers are queried where the system fails, since
    ///   they give the reason.
    case system(servesAlone: Bool)

    package init(_ question: NameQuestion, _ configuration: ResolverConfiguration) {
        if let literal = IPAddress(question.host) {
            self = .known([literal])
        } else if let known = configuration.addresses(of: question.host) {
            self = .known(known)
        } else if question.interface == nil {
            self = .system(servesAlone: configuration.isBeyondDNS(question.host))
        } else {
            self = configuration.isBeyondDNS(question.host) ? .system(servesAlone: true) : .servers
        }
    }
}

extension ResolverConfiguration {
    /// Whether only the system's resolver may know a name.
    fileprivate func isBeyondDNS(_ host: String) -> Bool {
        // systemd-resolved also queries each interface's own name servers.
        guard services.contains("dns") || services.contains("resolve") else { return true }
        // Names of this machine, of hosts that no server knows, and of users' directories have no dot.
        guard host.unicodeScalars.contains(".") else { return services.contains { !["files", "dns"].contains($0) } }
        let name = (host.before(".").map(String.init) ?? host).lowercased()
        // Without a module for multicast DNS the system would query the same servers, over any interface.
        return name.hasUTF8Suffix(".local") && services.contains { !["files", "dns", "myhostname"].contains($0) }
    }
}
