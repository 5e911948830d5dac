internal import ReachFleet
internal import ReachFleetLink

/// Finds out what the commands need to know about the server.
enum ServerProbe {
    /// The server's version: from its status where readers may ask, else from its greeting.
    static func version(_ link: NATSLink) throws(NATSError) -> ServerVersion {
        if let version = try ServerStatus.ask(link, within: .seconds(2))?.version { return version }
        for server in link.settings.servers {
            if let version = ServerGreeting.read(server)?.version { return version }
        }
        throw NATSError(.failed, "the server does not say its version")
    }
}
