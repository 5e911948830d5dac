import ReachCore
import ReachKernel
import ReachQueue
import ReachQueueRuntime
import ReachTesting
import ReachTransfer

/// A machine with two links, of which `lan0` leads to an intranet and `mob0` to the Internet. A server answers at every
/// address of both, and its answer is the address that the request came from.
final class RouteScene {
    static let lan = "192.0.2.2"
    static let mobile = "198.51.100.2"
    static let intranet = "http://192.0.2.1/x"
    static let internet = "http://203.0.113.10/x"

    let links: TwoLinks
    let room: QueueRoom
    private let web: WebServer

    /// - Parameters:
    ///   - defaults: The links that have a default route.
    ///   - hosts: The addresses of names.
    ///   - listeners: Where the server listens.
    init(
        defaults: [String] = [], hosts: [String: [String]] = [:], listeners: String = "listen 80; listen [::]:80;",
        _ change: (inout QueueEngine.Options) -> Void = { _ in }
    ) throws {
        links = try TwoLinks(up: defaults)
        for name in ["lan0", "mob0"] { try links.machine.run("ip", "link", "set", name, "up") }
        // The kernel may announce a carrier a second late.
        let machine = links.machine
        while try ["lan0", "mob0"].contains(where: { try !machine.run("ip", "link", "show", $0).contains("state UP") })
        {
            usleepSeconds(0.01)
        }
        try links.machine.run("ip", "link", "set", "lo", "up")
        try links.internet.run("ip", "link", "set", "lo", "up")
        web = try WebServer(
            "server { \(listeners) location / { return 200 $remote_addr; } }", listensOn: [80], in: links.internet)
        let addresses = hosts.mapValues { $0.compactMap(IPAddress.init) }
        room = try QueueRoom(in: links.machine) { options in
            options.transfers.resolver.configuration = ResolverConfiguration(servers: [], hosts: addresses)
            change(&options)
        }
    }

    /// Whether this kernel has VRFs.
    static let hasVRF: Bool = {
        guard let namespace = try? TestNamespace() else { return false }
        defer { namespace.remove() }
        return (try? namespace.run("ip", "link", "add", "blue", "type", "vrf", "table", "100")) != nil
    }()

    func ip(_ words: String) throws {
        _ = try ChildProcess.run(["ip", "-n", links.machine.name] + words.split(separator: " ").map(String.init))
    }

    /// Sends a request.
    ///
    /// - Returns: The address that it came from.
    func source(of url: String, when condition: String = "any") async throws -> String {
        try await answer(to: try await room.add(url, when: condition))
    }

    func answer(to id: RequestID) async throws -> String {
        try await room.wait(for: .done, of: id)
        guard case .inline(let bytes)? = try await room.record(id)?.result?.body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// What a request waits for, after a while in which it could have started.
    func blockers(of id: RequestID) async throws -> [Blocker] {
        try await room.wait(for: .waiting, of: id)
        usleepSeconds(1.5)
        return await room.explain(id)?.reasons.map(\.blocker) ?? []
    }
}
