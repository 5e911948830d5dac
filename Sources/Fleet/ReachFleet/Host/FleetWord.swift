/// How the host's side of the fleet is: a word for programs, and a sentence for people.
package enum FleetWord: String, Hashable, Sendable, CaseIterable {
    /// It has not connected yet, or connects again.
    case connecting
    /// The engine has everything.
    case connected
    /// Connected, and events wait.
    case behind
    /// No server answers.
    case engineDown = "engine-down"
    /// The server is there, its stream or bucket is not, or cannot answer now.
    case noStream = "no-stream"
    /// The stream is full and refuses new messages.
    case full
    /// The server's store is full, so that it refuses even the host's lease.
    case storeFull = "store-full"
    /// The server answers, and does not store.
    case notStored = "not-stored"
    /// The server does not accept the key, or gives it no right to the host's own subjects.
    case refused
    /// The host's token has ended, and its file has no newer one.
    case tokenEnded = "token-ended"
    /// Another machine writes with this host's identity.
    case conflict
    /// The server's certificate is not trusted.
    case untrusted
    /// A portal answers in place of the server.
    case portal
    /// This machine's clock is wrong, so that certificates cannot be checked.
    case clock
    /// The path is metered, and the configuration lets nothing be sent over it.
    case metered
    /// The daemon does not answer, so that there is nothing to report.
    case noDaemon = "no-daemon"
    /// The daemon records no events, so that there is nothing to send but the host's state.
    case noJournal = "no-journal"
    /// The daemon does not hand out its events now: its files cannot be opened, or too many read them.
    case journalRefused = "journal-refused"
    /// The server begins with TLS, which libnats cannot.
    case tlsFirst = "tls-first"
    /// The server gives the key no right to this host's subjects: it is another host's.
    case wrongHost = "wrong-host"
    /// It has said goodbye.
    case left

    package var sentence: String {
        switch self {
        case .connecting: "connecting"
        case .connected: "connected; the engine has all events"
        case .behind: "connected; events wait to be sent"
        case .engineDown: "no server answers; events wait on disk"
        case .noStream: "the server has no stream for this host's events, or it cannot answer now; events wait on disk"
        case .full: "the engine's stream is full; events wait on disk"
        case .storeFull:
            "the server's store is full: it refuses this host's lease, so the fleet sees it as silent; events wait on disk"
        case .notStored:
            "the server answers but stores no events; after a full disk it has to be restarted; events wait on disk"
        case .refused: "the server refuses this host's key; ask the fleet's operator"
        case .tokenEnded:
            "this host's token has ended; ask the fleet's operator for a token for one use, and redeem it by `reach-fleet join`"
        case .conflict: "another machine uses this host's identity; give this one another key"
        case .untrusted: "the server's certificate is not trusted; check 'ca' and the path"
        case .portal: "a portal answers in place of the server; log in to the network"
        case .clock: "this machine's clock is wrong, so that certificates cannot be checked; set it"
        case .metered: "the path is metered, and the configuration lets nothing be sent over it"
        case .noDaemon: "reachd does not answer; there is nothing to report"
        case .noJournal: "reachd records no events; set [journal] events in reach.toml, and group to the agent's"
        case .journalRefused: "reachd answers, but does not hand out its events now; they wait on disk"
        case .tlsFirst:
            "the server begins with TLS, which this agent's library cannot; set 'handshake_first: auto' in the server's tls block"
        case .wrongHost:
            "the server knows this key by another name; set 'host' in reach-fleet.toml to that in the list of hosts"
        case .left: "said goodbye"
        }
    }

    /// Whether the engine gets what happens, or will soon without anyone's help.
    package var isHealthy: Bool {
        switch self {
        case .connecting, .connected, .behind, .metered, .left: true
        default: false
        }
    }
}
