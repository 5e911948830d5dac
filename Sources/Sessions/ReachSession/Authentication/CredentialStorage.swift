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
///
/// Basic sends the password itself, so whoever is on the way could ask for Basic in place of a server with Digest.
/// Stored credentials never answer a challenge to Basic of an origin that has answered with Digest before, or that they
/// are stored for with the scheme ``AuthenticationChallenge/Scheme/digest``: then ``RequestHooks/challenge`` is asked.
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

    private struct Entry: Equatable {
        let credentials: UserCredentials
        /// The scheme that they are for; `nil` for the first that the server asks for.
        var scheme: AuthenticationChallenge.Scheme?
    }

    /// A directory below which a server accepted Basic credentials.
    private struct Directory {
        let path: String
        let realm: String
    }

    private struct State {
        var entries: [Space: Entry] = [:]
        var directories: [Origin: [Directory]] = [:]
        /// The origins of these credentials that have asked for Digest.
        var digestOrigins: Set<Origin> = []

        func entry(for origin: Origin, _ realm: String) -> Entry? {
            entries[Space(origin: origin, realm: realm)] ?? entries[Space(origin: origin, realm: nil)]
        }

        /// The credentials that may answer a challenge to this scheme.
        func credentials(
            for origin: Origin, _ realm: String, _ scheme: AuthenticationChallenge.Scheme
        ) -> UserCredentials? {
            guard let entry = entry(for: origin, realm) else { return nil }
            guard scheme == .basic, entry.scheme != .basic else { return entry.credentials }
            return entry.scheme == .digest || digestOrigins.contains(origin) ? nil : entry.credentials
        }

        mutating func noteDigest(of origin: Origin) { digestOrigins.insert(origin) }
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
    ///   - scheme: The scheme that they are for: with Digest they never answer a challenge to Basic, and with Basic
    ///     they may. `nil` lets the server decide at first, and keeps it to Digest once it has asked for that.
    public func setCredentials(
        _ credentials: UserCredentials?, for address: WebAddress, realm: String? = nil,
        scheme: AuthenticationChallenge.Scheme? = nil
    ) {
        state.withLock { state in
            state.entries[Space(origin: Origin(address), realm: realm)] = credentials.map {
                Entry(credentials: $0, scheme: scheme)
            }
            // They are offered again without a challenge when the server has accepted them.
            state.directories[Origin(address)]?.removeAll { realm == nil || $0.realm == realm }
        }
    }

    /// The credentials for a realm, or those for all realms of the server.
    public func credentials(for address: WebAddress, realm: String) -> UserCredentials? {
        state.withLock { $0.entry(for: Origin(address), realm)?.credentials }
    }

    /// Removes all credentials.
    public func removeAll() { state.withLock { $0 = State() } }

    // MARK: - For sessions

    /// The credentials that answer a challenge; remembers which origins ask for Digest.
    func credentials(
        for address: WebAddress, realm: String, scheme: AuthenticationChallenge.Scheme
    ) -> UserCredentials? {
        let origin = Origin(address)
        return state.withLock { state in
            if scheme == .digest, state.entry(for: origin, realm) != nil { state.noteDigest(of: origin) }
            return state.credentials(for: origin, realm, scheme)
        }
    }

    /// Who an origin's requests are from: the users of all of its realms; `nil` without any.
    func users(of address: WebAddress) -> String? {
        let origin = Origin(address)
        let users = state.withLock { state in
            state.entries.filter { $0.key.origin == origin }.map { [$0.key.realm ?? "", $0.value.credentials.user] }
        }
        return users.isEmpty ? nil : users.map { $0.joined(separator: "\0") }.sorted().joined(separator: "\0\0")
    }

    /// Remembers what a server has accepted.
    func accepted(_ credentials: UserCredentials, for address: WebAddress, realm: String, isBasic: Bool) {
        let origin = Origin(address)
        state.withLock { state in
            // A server may invent a realm for each challenge.
            let isBounded =
                realm.utf8.count <= 1024 && state.entries.keys.count { $0.origin == origin } < Self.limit
            if isBounded, state.entry(for: origin, realm)?.credentials != credentials {
                state.entries[Space(origin: origin, realm: realm)] = Entry(
                    credentials: credentials, scheme: isBasic ? .basic : .digest)
            }
            if !isBasic { state.noteDigest(of: origin) }
            let directory = Directory(path: Self.directory(of: address), realm: realm)
            let directories = state.directories[origin] ?? []
            let isKnown = directories.contains { $0.realm == realm && directory.path.hasUTF8Prefix($0.path) }
            guard isBasic, !isKnown else { return }
            state.directories[origin] = directories.suffix(Self.limit - 1) + [directory]
        }
    }

    /// Forgets what a server has refused, unless it was replaced meanwhile.
    func refused(_ credentials: UserCredentials, for address: WebAddress, realm: String) {
        let origin = Origin(address)
        state.withLock { state in
            for space in [Space(origin: origin, realm: realm), Space(origin: origin, realm: nil)]
            where state.entries[space]?.credentials == credentials { state.entries[space] = nil }
            state.directories[origin]?.removeAll { $0.realm == realm }
        }
    }

    /// The Basic credentials to send without a challenge, and their realm.
    func preemptive(for address: WebAddress) -> (credentials: UserCredentials, realm: String)? {
        let (origin, path) = (Origin(address), address.path.isEmpty ? "/" : address.path)
        return state.withLock { state in
            let matching = (state.directories[origin] ?? []).filter { path.hasUTF8Prefix($0.path) }
            guard let longest = matching.max(by: { $0.path.utf8.count < $1.path.utf8.count }),
                let credentials = state.credentials(for: origin, longest.realm, .basic)
            else { return nil }
            return (credentials, longest.realm)
        }
    }

    private static func directory(of address: WebAddress) -> String {
        guard let slash = address.path.unicodeScalars.lastIndex(of: "/") else { return "/" }
        return String(address.path[...slash])
    }
}
