internal import ReachCore
public import ReachSerialization
internal import Synchronization

/// Names and passwords in memory, by origin and realm: NSURLCredentialStorage's for one process. Nothing is written to
/// disk. Several sessions may share one. All members may be used from any thread.
///
/// A challenge that the storage has credentials for is answered with them before ``RequestHooks/challenge`` is asked.
/// Credentials of the hook that a server accepts are stored. Those that a server refuses are removed.
///
/// Once a server has accepted Basic credentials, they are sent to it without a challenge, for URLs below the same
/// directory (RFC 7617, 2.2). Digest credentials always answer a challenge.
public final class CredentialStorage: Sendable {
    private struct Origin: Hashable {
        let scheme: String
        let host: String
        let port: UInt16?

        init(_ address: WebAddress) {
            scheme = address.scheme
            host = address.host.lowercased()
            port = address.port ?? ["http": 80, "https": 443][address.scheme]
        }
    }

    private struct Space: Hashable {
        let origin: Origin
        /// `nil` for all realms.
        let realm: String?
    }

    /// A directory below which a server accepted Basic credentials.
    private struct Directory {
        let path: String
        let realm: String
    }

    private struct State {
        var credentials: [Space: UserCredentials] = [:]
        var directories: [Origin: [Directory]] = [:]
    }

    private let state = Mutex(State())
    /// The directories that are remembered for each origin.
    private static let limit = 64

    /// An empty storage.
    public init() {}

    /// Stores credentials, in place of others for the same realm; `nil` removes them.
    ///
    /// - Parameters:
    ///   - address: Any URL of the server: scheme, host and port count.
    ///   - realm: What they are for, in the server's words; `nil` for all realms that have none of their own.
    public func setCredentials(_ credentials: UserCredentials?, for address: WebAddress, realm: String? = nil) {
        state.withLock { state in
            state.credentials[Space(origin: Origin(address), realm: realm)] = credentials
            // They are offered again without a challenge when the server has accepted them.
            state.directories[Origin(address)]?.removeAll { realm == nil || $0.realm == realm }
        }
    }

    /// The credentials for a realm, or those for all realms of the server.
    public func credentials(for address: WebAddress, realm: String) -> UserCredentials? {
        state.withLock { Self.credentials(for: Origin(address), realm, in: $0) }
    }

    /// Removes all credentials.
    public func removeAll() { state.withLock { $0 = State() } }

    private static func credentials(for origin: Origin, _ realm: String, in state: State) -> UserCredentials? {
        state.credentials[Space(origin: origin, realm: realm)] ?? state.credentials[Space(origin: origin, realm: nil)]
    }

    // MARK: - For sessions

    /// Remembers what a server has accepted.
    func accepted(_ credentials: UserCredentials, for address: WebAddress, realm: String, isBasic: Bool) {
        let origin = Origin(address)
        state.withLock { state in
            // A server may invent a realm for each challenge.
            let isBounded =
                realm.utf8.count <= 1024 && state.credentials.keys.count { $0.origin == origin } < Self.limit
            if isBounded, Self.credentials(for: origin, realm, in: state) != credentials {
                state.credentials[Space(origin: origin, realm: realm)] = credentials
            }
            let directory = Directory(path: Self.directory(of: address), realm: realm)
            let known = state.directories[origin] ?? []
            let isKnown = known.contains { $0.realm == realm && directory.path.hasUTF8Prefix($0.path) }
            guard isBasic, !isKnown else { return }
            state.directories[origin] = known.suffix(Self.limit - 1) + [directory]
        }
    }

    /// Forgets what a server has refused, unless it was replaced meanwhile.
    func refused(_ credentials: UserCredentials, for address: WebAddress, realm: String) {
        let origin = Origin(address)
        state.withLock { state in
            for space in [Space(origin: origin, realm: realm), Space(origin: origin, realm: nil)]
            where state.credentials[space] == credentials { state.credentials[space] = nil }
            state.directories[origin]?.removeAll { $0.realm == realm }
        }
    }

    /// The Basic credentials to send without a challenge, and their realm.
    func preemptive(for address: WebAddress) -> (credentials: UserCredentials, realm: String)? {
        let (origin, path) = (Origin(address), address.path.isEmpty ? "/" : address.path)
        return state.withLock { state in
            let matching = (state.directories[origin] ?? []).filter { path.hasUTF8Prefix($0.path) }
            guard let longest = matching.max(by: { $0.path.utf8.count < $1.path.utf8.count }),
                let credentials = Self.credentials(for: origin, longest.realm, in: state)
            else { return nil }
            return (credentials, longest.realm)
        }
    }

    private static func directory(of address: WebAddress) -> String {
        guard let slash = address.path.unicodeScalars.lastIndex(of: "/") else { return "/" }
        return String(address.path[...slash])
    }
}
