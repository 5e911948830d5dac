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
/// than an eighth of the cache. A response with `Vary` is used for requests with the same values only, and one to a request
/// that the program gave an `Authorization` header for requests with the same header only. An answer to any other method
/// than GET, HEAD, OPTIONS and TRACE removes what is stored of its URL, and of those that it names as its location.
///
/// Nothing is shared between sessions. When another user logs in, call ``removeAll()``: what credentials a hook or a cookie
/// added is not part of what is compared, unless the server says so by `Vary`.
///
/// All members may be used from any thread.
public final class ResponseCache: Sendable {
    /// The storage of responses.
    public enum Keeping: Hashable, Sendable {
        /// Nothing is stored.
        case none
        /// In memory, within this number of bytes, until the session ends.
        case memory(bytes: Int = 16 << 20)
        /// In a directory, within this number of bytes, and the most recent ones in memory, too. The directory is created
        /// if its parent exists; only its owner can read it, and one session at a time can use it.
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

    /// Removes what is stored of a URL.
    public func remove(_ url: WebAddress) {
        if let url = try? TransferURL(url.description) { remove(url) }
    }

    /// Removes all responses.
    public func removeAll() {
        let names = state.withLock { state in
            defer {
                state.generation += 1
                state.memory.removeAll()
                state.files.removeAll()
                state.responses = [:]
            }
            return state.isClosed ? [] : state.files.names
        }
        for name in names { disk?.run { $0.remove(name) } }
    }

    // MARK: - For requests

    /// Finds the response of a URL.
    ///
    /// - Parameter reply: Called once: at once if no disk is needed, else on another thread.
    func find(_ url: TransferURL, reply: @escaping @Sendable (CachedResponse?) -> Void) {
        guard isOn, let name = Self.name(url) else { return reply(nil) }
        let (known, isOnDisk, generation, limit) = state.withLock { state in
            state.memory.use(name)
            state.files.use(name)
            let isOnDisk = state.files.contains(name) && !state.isClosed
            return (state.responses[name], isOnDisk, state.generation, state.files.longest)
        }
        guard known == nil, isOnDisk, let disk else { return reply(known) }
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

    /// Stores a response, in place of the one of its URL.
    func store(_ response: CachedResponse) {
        guard isOn, let url = try? TransferURL(response.url), let name = Self.name(url) else { return }
        let file = disk == nil ? [] : response.file
        let (isWritten, dropped): (Bool, [String]) = state.withLock { state in
            state.generation += 1
            state.drop(name)
            state.hold(response, name)
            guard disk != nil, !state.isClosed else { return (false, []) }
            guard file.count <= state.files.longest else { return (false, [name]) }
            return (true, state.files.add(name, bytes: file.count))
        }
        guard let disk else { return }
        if isWritten {
            disk.run { [weak self] directory in
                if !directory.write(file, to: name) {
                    directory.remove(name)
                    self?.state.withLock { $0.files.remove(name) }
                }
            }
        }
        for name in dropped { disk.run { $0.remove(name) } }
    }

    /// Removes what is stored of a URL.
    func remove(_ url: TransferURL) {
        guard isOn, let name = Self.name(url) else { return }
        let isOnDisk = state.withLock { state in
            state.generation += 1
            defer { state.drop(name) }
            return state.files.contains(name) && !state.isClosed
        }
        if isOnDisk { disk?.run { $0.remove(name) } }
    }

    /// Stores nothing more, and lets another session use the directory once everything is written. Blocks until then.
    ///
    /// - Returns: Whether that was within `patience`.
    func close(patience: Duration) -> Bool {
        state.withLock { $0.isClosed = true }
        guard let disk else { return true }
        let isReleased = DispatchSemaphore(value: 0)
        disk.run { directory in
            directory.release()
            isReleased.signal()
        }
        return isReleased.wait(timeout: .now() + .nanoseconds(Int(clamping: patience.nanoseconds))) == .success
    }

    private static func name(_ url: TransferURL) -> String? {
        MessageDigest.sha256.hexadecimal(url.description)
    }
}
