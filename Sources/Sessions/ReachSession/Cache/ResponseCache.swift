internal import Dispatch
internal import ReachCore
internal import ReachLoop
public import ReachSerialization
internal import ReachTransfer
internal import Synchronization

/// The stored responses of one session: a private cache by RFC 9111, in memory or on disk.
///
/// Answers to GET are stored, one for each URL, and used for GET and HEAD as ``RequestOptions/cachePolicy`` says. A
/// response is stored if the server allows it; not stored are parts, redirects, downloads to files, and answers longer
/// than an eighth of the cache. A response with `Vary` is used for requests with the same values only, and one to a
/// request that the program gave an `Authorization` header for requests with the same header only. What was stored
/// while the session's ``CredentialStorage`` had credentials of some users for a server is used for the same users
/// only, and without `Cache-Control: public` for the same cookies only. An answer to any other method than GET, HEAD,
/// OPTIONS and TRACE removes what is stored of its URL, and of those that it names as its location.
///
/// Nothing is shared between sessions. When another user logs in, call ``removeAll()-8kur8``: credentials of a hook
/// without a storage, and those of an interceptor, are not part of what is compared, unless the server says so by
/// `Vary`.
///
/// All members may be used from any thread.
public final class ResponseCache: Sendable {
    /// The storage of responses.
    public enum Keeping: Hashable, Sendable {
        /// Nothing is stored.
        case none
        /// In memory, within this number of bytes, until the session ends.
        case memory(bytes: Int = 16 << 20)
        /// In a directory, within this number of bytes, and the most recent ones in memory, too. The directory is
        /// created if its parent exists; only its owner can read it, and one session at a time can use it.
        case directory(String, bytes: Int = 256 << 20, memoryBytes: Int = 16 << 20)
    }

    private final class Disk: Sendable {
        let directory: CacheDirectory
        let thread = SerialThread.files

        init(_ path: String) throws(RequestError) { directory = try CacheDirectory(path) }

        /// Works on the directory, in order, on a thread of its own.
        func run(_ work: @escaping @Sendable (borrowing CacheDirectory) -> Void) { thread.run { work(self.directory) } }
    }

    private struct State {
        var memory: CacheShelf
        var responses: [String: CachedResponse] = [:]
        /// What is on the disk, or about to be.
        var files: CacheShelf
        /// Removals so far: a response that was read before one is not put into memory after it.
        var generation: UInt64 = 0
        /// Removals of everything so far.
        var epoch: UInt64 = 0
        var isClosed = false

        mutating func hold(_ response: CachedResponse, _ name: String) {
            guard response.bytes <= memory.longest else { return }
            responses[name] = response
            for dropped in memory.add(name, bytes: response.bytes) { responses[dropped] = nil }
        }

        mutating func drop(_ name: String) {
            responses[name] = nil
            memory.remove(name)
            files.remove(name)
        }
    }

    private let disk: Disk?
    private let state: Mutex<State>
    /// Whether anything is stored at all.
    let isOn: Bool

    /// Whether there is a directory, which the end of the session has to release.
    var hasDirectory: Bool { disk != nil }

    /// - Throws: `notTaken` if the directory cannot be used.
    init(_ keeping: Keeping) throws(RequestError) {
        isOn = keeping != .none
        switch keeping {
        case .none, .memory:
            disk = nil
            let bytes = if case .memory(let bytes) = keeping { bytes } else { 0 }
            state = Mutex(State(memory: CacheShelf(capacity: bytes), files: CacheShelf(capacity: 0)))
        case .directory(let path, let bytes, let memoryBytes):
            let disk = try Disk(path)
            self.disk = disk
            var files = CacheShelf(capacity: bytes)
            for (name, count) in disk.directory.contents() {
                for dropped in files.add(name, bytes: count) { disk.directory.remove(dropped) }
            }
            state = Mutex(State(memory: CacheShelf(capacity: memoryBytes), files: files))
        }
    }

    // MARK: - For programs

    /// The bytes that are stored: on the disk in a cache with a directory, else in memory.
    public var bytes: Int { state.withLock { disk == nil ? $0.memory.bytes : $0.files.bytes } }

    /// Removes what is stored of a URL, and waits until its file is gone. Blocks until then.
    @available(*, noasync)
    public func remove(_ url: WebAddress) { Self.wait { remove(url, done: $0) } }

    /// Removes what is stored of a URL, and waits until its file is gone.
    public func remove(_ url: WebAddress) async {
        await withCheckedContinuation { continuation in remove(url) { continuation.resume() } }
    }

    /// Removes all responses, and waits until their files are gone: none of them comes back, even if the process is
    /// killed then. Answers to requests that are under way are not stored. Blocks until then.
    ///
    /// A closed session no longer owns its directory, and leaves it as it is.
    @available(*, noasync)
    public func removeAll() { Self.wait { removeAll(done: $0) } }

    /// Removes all responses, and waits until their files are gone: none of them comes back, even if the process is
    /// killed then. Answers to requests that are under way are not stored.
    ///
    /// A closed session no longer owns its directory, and leaves it as it is.
    public func removeAll() async {
        await withCheckedContinuation { continuation in removeAll { continuation.resume() } }
    }

    private static func wait(for work: (@escaping @Sendable () -> Void) -> Void) {
        let isDone = DispatchSemaphore(value: 0)
        work { isDone.signal() }
        isDone.wait()
    }

    private func remove(_ url: WebAddress, done: @escaping @Sendable () -> Void) {
        guard let url = try? TransferURL(url.description) else { return done() }
        remove(url, done: done)
    }

    private func removeAll(done: @escaping @Sendable () -> Void) {
        let isQueued = state.withLock { state in
            state.generation += 1
            state.epoch += 1
            state.memory.removeAll()
            state.files.removeAll()
            state.responses = [:]
            return run(state) { directory in
                directory.removeAll()
                done()
            }
        }
        if !isQueued { done() }
    }

    /// Queues work on the directory. Requires the lock, so that files change in the order in which ``State/files``
    /// does.
    ///
    /// - Returns: `false` where there is none, or no longer.
    @discardableResult
    private func run(_ state: borrowing State, _ work: @escaping @Sendable (borrowing CacheDirectory) -> Void) -> Bool {
        guard let disk, !state.isClosed else { return false }
        disk.run(work)
        return true
    }

    // MARK: - For requests

    /// Finds the response of a URL.
    ///
    /// - Parameter reply: Called once: at once if no disk is needed, else on another thread.
    func find(_ url: TransferURL, reply: @escaping @Sendable (CachedResponse?) -> Void) {
        guard isOn, let name = Self.name(url) else { return reply(nil) }
        let (stored, isOnDisk, generation, limit) = state.withLock { state in
            state.memory.use(name)
            state.files.use(name)
            let isOnDisk = state.files.contains(name) && !state.isClosed
            return (state.responses[name], isOnDisk, state.generation, state.files.longest)
        }
        guard stored == nil, isOnDisk, let disk else { return reply(stored) }
        disk.run { [weak self] directory in
            let found = directory.read(name, limit: limit)
            // Digests do not collide, but a directory may have been tampered with.
            let response = found?.url == url.description ? found : nil
            self?.keep(response, name, readAt: generation)
            reply(response)
        }
    }

    private func keep(_ response: CachedResponse?, _ name: String, readAt generation: UInt64) {
        state.withLock { state in
            guard state.generation == generation else { return }
            guard let response else { return state.files.remove(name) }
            guard state.responses[name] == nil else { return }
            state.hold(response, name)
        }
    }

    /// The number of calls of ``removeAll()`` so far. An answer to a request that was sent before the last is not
    /// stored.
    var epoch: UInt64 { state.withLock { $0.epoch } }

    /// Stores a response, in place of the one of its URL.
    ///
    /// - Parameter epoch: The cache's epoch when its request was sent.
    func store(_ response: CachedResponse, since epoch: UInt64?) {
        guard isOn, let url = try? TransferURL(response.url), let name = Self.name(url) else { return }
        let file = disk == nil ? [] : response.file
        state.withLock { state in
            guard state.epoch == epoch else { return }
            state.generation += 1
            state.drop(name)
            state.hold(response, name)
            guard disk != nil, !state.isClosed else { return }
            guard file.count <= state.files.longest else {
                run(state) { $0.remove(name) }
                return
            }
            let dropped = state.files.add(name, bytes: file.count)
            run(state) { [weak self] directory in
                if !directory.write(file, to: name) {
                    directory.remove(name)
                    self?.state.withLock { $0.files.remove(name) }
                }
            }
            for name in dropped { run(state) { $0.remove(name) } }
        }
    }

    /// Removes what is stored of a URL.
    ///
    /// - Parameter done: Called when its file is gone.
    func remove(_ url: TransferURL, done: @escaping @Sendable () -> Void = {}) {
        guard isOn, let name = Self.name(url) else { return done() }
        let isQueued = state.withLock { state in
            state.generation += 1
            let isOnDisk = state.files.contains(name)
            state.drop(name)
            return isOnDisk
                && run(state) { directory in
                    directory.remove(name)
                    done()
                }
        }
        if !isQueued { done() }
    }

    /// Stores nothing more, and lets another session use the directory once everything is written. Blocks until then.
    ///
    /// - Returns: Whether that was within `patience`.
    func close(patience: Duration) -> Bool {
        let isReleased = DispatchSemaphore(value: 0)
        state.withLock { state in
            state.isClosed = true
            disk?.run { directory in
                directory.release()
                isReleased.signal()
            }
        }
        guard disk != nil else { return true }
        return isReleased.wait(timeout: .now() + .nanoseconds(Int(clamping: patience.nanoseconds))) == .success
    }

    private static func name(_ url: TransferURL) -> String? {
        MessageDigest.sha256.hexadecimal(url.description)
    }
}
