internal import Glibc
internal import Synchronization

/// A network namespace of its own for a test, with `lo` up and nothing else in it.
///
///     @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)")) func ...() throws {
///         let namespace = try TestNamespace()
///         defer { namespace.remove() }
///         try namespace.run("ip", "link", "add", "b0", "type", "bridge")
///
/// The `defer` also keeps it alive: Swift may release a value after its last use, which could be early in the test.
package final class TestNamespace: Sendable {
    /// Network namespaces can be made here: it takes `ip` and CAP_SYS_ADMIN.
    package static let isAvailable = refusal == nil

    /// What a test that is skipped for the lack of namespaces says.
    package static let whyNot: String = refusal ?? "network namespaces can be made here"

    /// As `ip netns list` shows it.
    package let name: String
    /// Refers to it for as long as this value lives, for setns(2).
    package let descriptor: CInt
    private let state = Mutex(State())

    private struct State {
        var isRemoved = false
        var peers: [TestNamespace] = []
    }

    /// - Throws: ``ChildProcess/Failure`` where namespaces cannot be made.
    package init() throws {
        // The first one also mounts /run/netns, which two must not do at once.
        if let refusal = Self.refusal { throw Unavailable(description: refusal) }
        name = Self.nextName()
        descriptor = try Self.make(name)
    }

    deinit {
        remove()
        close(descriptor)
    }

    /// Takes it down, with all its links, and the peers that ``vethPair()`` made. Again does no harm.
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

    /// Runs a program inside and waits for it.
    ///
    /// - Returns: What it wrote to standard output.
    /// - Throws: ``ChildProcess/Failure``, which shows what it wrote to standard error.
    @discardableResult
    package func run(_ command: String...) throws -> String {
        // `ip` enters by itself, which spares a process and a mount namespace.
        if command.first == "ip" { return try ChildProcess.run(["ip", "-n", name] + command.dropFirst()) }
        return try ChildProcess.run(["ip", "netns", "exec", name] + command)
    }

    /// An uplink: veth `up0` here with 192.0.2.2/24, a default route via 192.0.2.1 and 2001:db8::2/64; its other end `up1`
    /// in a namespace of its own, with 192.0.2.1 and 2001:db8::1. There is no IPv6 default route.
    ///
    /// No link-local addresses and no duplicate address detection: nothing happens by itself later on.
    ///
    /// - Returns: The other end's namespace, which is removed with this one.
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

    private func bring(up interface: String, _ addresses: String...) throws {
        try run("ip", "link", "set", interface, "addrgenmode", "none")
        try run("ip", "link", "set", interface, "up")
        for address in addresses { try run("ip", "address", "add", address, "dev", interface, "nodad") }
    }

    // MARK: - Making them

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

    /// Why none can be made; `nil` if one could be, just now.
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

    /// Removes what test runs that were killed left behind.
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
