import ReachCore
import ReachKernel
import ReachTesting

/// A machine with two links to one Internet: `lan0`, which its configuration calls Wi-Fi, and `mob0`, a modem. By both
/// a default route goes; the first is preferred. In the Internet are servers at 203.0.113.10.
final class TwoLinks: Sendable {
    static let server = IPAddress(ipv4: 0xcb00_710a)

    let machine: TestNamespace
    let internet: TestNamespace

    static let policy = LinkPolicy(rules: [
        LinkPolicy.Rule(pattern: Glob("lan*"), linkClass: .wifi),
        LinkPolicy.Rule(pattern: Glob("mob*"), linkClass: .wwan),
    ])

    /// - Parameter links: Those that are up at first.
    init(up links: [String] = ["lan0", "mob0"]) throws {
        machine = try TestNamespace()
        internet = try TestNamespace()
        try internet.run("ip", "address", "add", "203.0.113.10/32", "dev", "lo")
        for (name, network) in [("lan0", "192.0.2"), ("mob0", "198.51.100")] {
            try machine.run("ip", "link", "add", name, "type", "veth", "peer", "name", name, "netns", internet.name)
            try internet.run("ip", "address", "add", "\(network).1/24", "dev", name)
            for namespace in [machine, internet] {
                try namespace.run("ip", "link", "set", name, "addrgenmode", "none")
            }
            try internet.run("ip", "link", "set", name, "up")
            try machine.run("ip", "address", "add", "\(network).2/24", "dev", name)
            if links.contains(name) { try bring(up: name) }
        }
    }

    deinit {
        machine.remove()
        internet.remove()
    }

    /// The link comes up, and its default route with it.
    func bring(up name: String) throws {
        try machine.run("ip", "link", "set", name, "up")
        let (gateway, metric) = name == "lan0" ? ("192.0.2.1", "100") : ("198.51.100.1", "700")
        try machine.run("ip", "route", "add", "default", "via", gateway, "dev", name, "metric", metric)
    }

    /// The kernel takes the route away with it.
    func take(down name: String) throws { try machine.run("ip", "link", "set", name, "down") }

    /// Packets that a link has sent.
    func packetsSent(by name: String) throws -> Int {
        let text = try machine.run("cat", "/sys/class/net/\(name)/statistics/tx_packets")
        return Int(text.trimmingWhitespace) ?? -1
    }
}

extension String {
    fileprivate var trimmingWhitespace: String { split(whereSeparator: \.isWhitespace).joined() }
}
