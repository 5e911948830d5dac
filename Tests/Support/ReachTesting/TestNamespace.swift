internal import CReachLinux
internal import Glibc
internal import ReachLoop
internal import Synchronization

/// A network namespace for one test. Only `lo` is in it, and is up.
///
///     @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)")) func ...() throws {
///         let namespace = try TestNamespace()
///         defer { namespace.remove() }
///         try namespace.run("ip", "link", "add", "b0", "type", "bridge")
///
/// The `defer` also keeps the value alive: Swift may release it after its last use, which could be early in the test.
package final class TestNamespace: Sendable {
    /// Whether this process can make network namespaces, which takes `ip` and CAP_SYS_ADMIN.
    package static let isAvailable = refusal == nil

    /// The comment of a test that is skipped because namespaces cannot be made.
    package static let whyNot: String = refusal ?? "network namespaces can be made here"

    /// The name, as `ip netns list` shows it.
    package let name: String
    /// A descriptor for setns(2), open as long as this value lives.
    package let descriptor: CInt
    private let state = Mutex(State())

    private struct State {
        var isRemoved = false
        var peers: [TestNamespace] = []
    }

    /// - Throws: ``ChildProcess/Failure`` where namespaces cannot be made.
    package init() throws {
        // The first namespace also mounts /run/netns, which must not happen twice at once.
        if let refusal = Self.refusal { throw Unavailable(description: refusal) }
        name = Self.nextName()
        descriptor = try Self.make(name)
    }

    deinit {
        remove()
        close(descriptor)
    }

    /// Removes the namespace with its links, and the peers that ``vethPair()`` made. A second call does nothing.
    package func remove() {
        let peers: [TestNamespace]? = state.withLock { state in
            guard !state.isRemoved else { return nil }
            state.isRemoved = true
            defer { state.peers = [] }
            return state.peers
        }
        guard let peers else { return }
        _ = try? ChildProcess.run(["ip", "netns", "delete", name])
        peers.forEach { $0.remove() }
    }

    /// Runs a program in the namespace and waits for it.
    ///
    /// - Returns: Its standard output.
    /// - Throws: ``ChildProcess/Failure`` with its standard error.
    @discardableResult
    package func run(_ command: String...) throws -> String {
        // `ip -n` enters the namespace by itself, which saves a process and a mount namespace.
        if command.first == "ip" { return try ChildProcess.run(["ip", "-n", name] + command.dropFirst()) }
        return try ChildProcess.run(["ip", "netns", "exec", name] + command)
    }

    /// Calls `body` on a thread in the namespace, and waits for it.
    package func perform<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let results = EventLog<Result<Value, any Error>>()
        let descriptor = descriptor
        BackgroundThread.start(named: "reach-test") {
            guard reach_enter_network_namespace(descriptor) == 0 else {
                return results.append(.failure(Unavailable(description: "the namespace cannot be entered")))
            }
            results.append(Result { try body() })
        }
        return try await results.wait(for: 1, within: .seconds(30))[0].get()
    }

    /// Makes an uplink: veth `up0` here with 192.0.2.2/24, a default route via 192.0.2.1 and 2001:db8::2/64; its other
    /// end `up1` in a namespace of its own, with 192.0.2.1 and 2001:db8::1. There is no IPv6 default route.
    ///
    /// It has no link-local addresses and no duplicate address detection, so nothing changes by itself later.
    ///
    /// - Returns: The namespace of the other end, which is removed with this one.
    @discardableResult
    package func vethPair() throws -> TestNamespace {
        let peer = try TestNamespace()
        state.withLock { $0.peers.append(peer) }
        try run("ip", "link", "add", "up0", "type", "veth", "peer", "name", "up1", "netns", peer.name)
        try peer.bring(up: "up1", "192.0.2.1/24", "2001:db8::1/64")
        try bring(up: "up0", "192.0.2.2/24", "2001:db8::2/64")
        try run("ip", "route", "add", "default", "via", "192.0.2.1")
        return peer
    }

    /// Makes the router of ``vethPair()`` one that did not answer, though it does now: the kernel's entry stays failed
    /// until something is sent to it.
    package func failGateway() throws {
        // The kernel may announce the carrier a second late, and what failed before the announcement counts for
        // nothing.
        while try !run("ip", "link", "show", "up0").contains("state UP") { usleep(10_000) }
        // It announces only the failure of an entry that was valid.
        for state in ["stale", "failed"] {
            try run("ip", "neigh", "replace", "192.0.2.1", "lladdr", "02:00:00:00:00:01", "dev", "up0", "nud", state)
        }
    }

    private func bring(up interface: String, _ addresses: String...) throws {
        try run("ip", "link", "set", interface, "addrgenmode", "none")
        try run("ip", "link", "set", interface, "up")
        for address in addresses { try run("ip", "address", "add", address, "dev", interface, "nodad") }
    }

    // MARK: - Creation

    private struct Unavailable: Error, CustomStringConvertible {
        let description: String
    }

    private static let prefix = "reach-test-"
    private static let count = Mutex(0)

    private static func nextName() -> String {
        let number = count.withLock { count in
            count += 1
            return count
        }
        return "\(prefix)\(getpid())-\(number)"
    }

    private static func make(_ name: String) throws -> CInt {
        try ChildProcess.run(["ip", "netns", "add", name])
        try ChildProcess.run(["ip", "-n", name, "link", "set", "lo", "up"])
        let descriptor = open("/run/netns/" + name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Unavailable(description: "/run/netns/\(name) cannot be opened") }
        return descriptor
    }

    /// The reason why namespaces cannot be made; `nil` if an attempt succeeded.
    private static let refusal: String? = {
        removeLeftovers()
        let name = nextName()
        defer { _ = try? ChildProcess.run(["ip", "netns", "delete", name]) }
        do {
            close(try make(name))
            return nil
        } catch {
            return "network namespaces cannot be made here: \(error)"
        }
    }()

    /// Removes the namespaces that killed test runs have left.
    private static func removeLeftovers() {
        let list = (try? ChildProcess.run(["ip", "netns", "list"])) ?? ""
        for line in list.split(separator: "\n") {
            guard let name = line.split(separator: " ").first, name.hasPrefix(prefix),
                let process = name.dropFirst(prefix.count).split(separator: "-").first.flatMap({ pid_t($0) }),
                kill(process, 0) == -1, errno == ESRCH
            else { continue }
            _ = try? ChildProcess.run(["ip", "netns", "delete", String(name)])
        }
    }
}
