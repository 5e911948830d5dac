package import ReachCore

/// Who knows a name: decided by the question and by what the machine's files say. A value.
///
/// The system's resolver knows search domains, multicast DNS and whatever other modules nsswitch.conf(5) names, but asks
/// over whatever interface routing prefers. So a question that is bound to an interface goes to the name servers over
/// that interface, unless DNS cannot know the name.
package enum NamePlan: Hashable, Sendable {
    /// No one has to be asked.
    case known([IPAddress])
    /// The name servers.
    case servers
    /// The system's resolver.
    ///
    /// - servesAlone: DNS knows nothing of the name. Else, where the system cannot find out, the name servers are asked,
    ///   which say why.
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
        // systemd-resolved asks name servers, each interface's own.
        guard services.contains("dns") || services.contains("resolve") else { return true }
        // A dot at the end says that no search domain is meant.
        guard host.contains(".") else { return true }
        let name = (host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased()
        // Without a module that knows multicast DNS the system would ask the same servers, by any interface.
        return name.hasSuffix(".local") && services.contains { !["files", "dns", "myhostname"].contains($0) }
    }
}
