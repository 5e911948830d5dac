internal import Glibc
internal import ReachCore
internal import ReachLoop
public import ReachSerialization
internal import ReachTransfer
internal import Synchronization

/// The cookies of one session. Servers set them, and they are sent with the session's requests, each hop of a redirect
/// with those of its own URL.
///
/// No session sees another's cookies. A request that has a `Cookie` header of its own is sent with that header alone,
/// and what the server sets is stored nevertheless.
///
/// The number of cookies is bounded: 50 of a domain and 3,000 in all, with 256 KiB and 4 MiB; those that were not used
/// for longest are removed first. A cookie lives for 400 days at most. A server may set cookies for the domain above
/// its host unless that is a public suffix such as `co.uk`; libpsl has the list of those. Without the list such a
/// cookie is kept for the server's host only.
///
/// All members may be used from any thread.
public final class CookieStorage: Sendable {
    /// The storage of cookies.
    public enum Keeping: Hashable, Sendable {
        /// Cookies are neither stored nor sent.
        case none
        /// In memory, until the session ends.
        case memory
        /// In a file, which one session at a time can use, and which only its owner can read. It is created if its
        /// directory exists, and replaced within a second after a change and when the session is closed. As in
        /// HTTPCookieStorage, cookies without an expiry date are not written.
        case file(String)
    }

    /// The file, which this storage has locked.
    private final class Store: Sendable {
        let file: CookieFile
        /// Held while the file is written: two threads may want to.
        let writing = Mutex(())

        init(_ path: String) throws(RequestError) { file = try CookieFile(path) }
    }

    private struct State {
        var jar = CookieJar()
        /// Whether the file differs from the jar.
        var isDirty = false
        var willSave = false
        /// Whether the file is no longer this storage's.
        var isClosed = false
    }

    private let keeping: Keeping
    private let store: Store?
    private let state = Mutex(State())
    private let thread = SerialThread(named: "reach-cookies")

    /// - Throws: `notTaken` if the file cannot be used.
    init(_ keeping: Keeping) throws(RequestError) {
        self.keeping = keeping
        guard case .file(let path) = keeping else {
            store = nil
            return
        }
        let store = try Store(path)
        self.store = store
        let (cookies, now) = (try store.file.read(), SystemClock.now.wall)
        state.withLock { state in
            for cookie in cookies { state.jar.store(cookie, at: now) }
        }
    }

    // MARK: - For programs

    /// All cookies that have not expired, the oldest first.
    public var cookies: [Cookie] {
        let now = SystemClock.now.wall
        return state.withLock { $0.jar.all(at: now) }
    }

    /// The cookies that a request for this URL would be sent with, in their order.
    public func cookies(for url: WebAddress) -> [Cookie] {
        guard keeping != .none, let url = try? TransferURL(url.description) else { return [] }
        let (origin, now) = (CookieOrigin(url), SystemClock.now.wall)
        return state.withLock { $0.jar.cookies(for: origin, at: now) }
    }

    /// Stores a cookie, in place of one with its name, domain and path. One that has expired removes that one.
    ///
    /// - Returns: Whether the cookie can be sent: a name, a path and a host are needed, without the characters that end
    ///   them.
    @discardableResult
    public func set(_ cookie: Cookie) -> Bool {
        var cookie = cookie
        cookie.domain = cookie.domain.lowercased()
        if cookie.domain.hasUTF8Prefix(".") { cookie.domain.removeFirst() }
        if InternationalName.isOne(cookie.domain) {
            guard let ascii = try? InternationalName.ascii(cookie.domain) else { return false }
            cookie.domain = ascii
        }
        guard keeping != .none, cookie.isSendable else { return false }
        let now = SystemClock.now.wall
        change { [cookie] in $0.store(cookie, at: now) }
        return true
    }

    /// Removes a cookie: the one with its name, domain and path.
    public func delete(_ cookie: Cookie) {
        delete { $0.name == cookie.name && $0.domain == cookie.domain && $0.path == cookie.path }
    }

    /// Removes the cookies for which the block returns `true`. The block must not use this storage.
    public func delete(where isUnwanted: @Sendable (Cookie) -> Bool) { change { $0.remove(where: isUnwanted) } }

    /// Removes all cookies.
    public func deleteAll() { delete { _ in true } }

    // MARK: - For attempts

    /// The value of the Cookie field for a hop; `nil` without cookies.
    func header(for url: TransferURL) -> String? {
        guard keeping != .none, state.withLock({ $0.jar.count > 0 }) else { return nil }
        let (origin, now) = (CookieOrigin(url), SystemClock.now.wall)
        return state.withLock { $0.jar.header(for: origin, at: now) }
    }

    /// Stores what a response sets.
    func store(_ head: ResponseHead, from url: TransferURL) {
        guard keeping != .none, head["set-cookie"] != nil else { return }
        let fields = Array(
            head.fields.lazy.filter { $0.isNamed("Set-Cookie") }.compactMap { SetCookieField($0.value) }
                .prefix(Self.fieldLimit))
        guard !fields.isEmpty else { return }
        let (origin, now) = (CookieOrigin(url), SystemClock.now.wall)
        change { jar in
            var isChanged = false
            for field in fields where jar.store(field, from: origin, at: now, suffixes: PublicSuffixes.answer) {
                isChanged = true
            }
            return isChanged
        }
    }

    /// The most cookies that one response sets: storing costs time on a thread that sessions share, and libcurl, too,
    /// takes 50.
    private static let fieldLimit = 50

    // MARK: - The file

    /// How long changes are collected before they are written: a server may set cookies with each answer.
    private static let delay: useconds_t = 1_000_000

    private func change(_ body: (inout CookieJar) -> Bool) {
        let starts = state.withLock { state in
            guard body(&state.jar), store != nil else { return false }
            state.isDirty = true
            defer { state.willSave = true }
            return !state.willSave
        }
        guard starts else { return }
        thread.run { [weak self] in
            usleep(Self.delay)
            self?.save()
        }
    }

    /// Whether there is a file, which the end of the session has to write.
    var hasFile: Bool { store != nil }

    /// Writes what was changed, and lets another session use the file. Later changes are not written.
    ///
    /// - Returns: Whether everything is written.
    func close() -> Bool {
        let isWritten = save()
        state.withLock { $0.isClosed = true }
        store?.writing.withLock { _ in store?.file.release() }
        return isWritten
    }

    /// Writes the file, if it differs from what is held. Blocks until it is on the disk.
    ///
    /// - Returns: Whether everything is written.
    @discardableResult
    private func save() -> Bool {
        guard let store else { return true }
        return store.writing.withLock { _ in
            let now = SystemClock.now.wall
            let cookies: [Cookie]? = state.withLock { state in
                defer { (state.isDirty, state.willSave) = (false, false) }
                return state.isDirty && !state.isClosed ? state.jar.all(at: now) : nil
            }
            guard let cookies else { return true }
            do throws(SystemError) {
                try store.file.write(cookies)
                return true
            } catch {
                // Written with the next change, or when the session is closed.
                state.withLock { $0.isDirty = true }
                return false
            }
        }
    }
}

extension CookieOrigin {
    init(_ url: TransferURL) {
        let start = url.description.utf8Range(of: "://")?.upperBound ?? url.description.startIndex
        let path = url.description[start...].dropScalars { $0 != "/" }.prefixScalars { $0 != "?" }
        let host = url.host.before(".").map(String.init) ?? url.host
        self.init(
            host: host, path: path.isEmpty ? "/" : String(path), isSecure: url.isSecure, isAddress: url.address != nil)
    }
}
