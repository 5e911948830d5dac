import ReachCore
import ReachTesting

/// A client and its home router, connected to a ``ProviderNetwork``: what a scene may break.
final class HomeNetwork {
    let client: TestNamespace
    let router: TestNamespace
    let network: ProviderNetwork
    /// The home's number, from 1.
    private let number: Int
    let files: TemporaryDirectory

    init(_ number: Int, at network: ProviderNetwork) throws {
        self.network = network
        self.number = number
        client = try TestNamespace()
        router = try TestNamespace()
        files = try TemporaryDirectory()
        try router.run("ip", "link", "add", "lan", "type", "veth", "peer", "name", "up0", "netns", client.name)
        try router.run(
            "ip", "link", "add", "wan", "type", "veth", "peer", "name", providerLink, "netns", network.provider.name)
        let (near, far) = ("203.0.113.\(4 * number + 2)", "203.0.113.\(4 * number + 1)")
        let prefix = "2001:db8:\(number)"
        try ProviderNetwork.batch(
            network.provider, files, "provider",
            ProviderNetwork.bring(providerLink, "\(far)/30", "2001:db8:f000:\(number)::1/64", "fe80::1/64")
                + ["route add \(prefix)::/48 via 2001:db8:f000:\(number)::2"])
        try ProviderNetwork.batch(
            router, files, "router",
            ProviderNetwork.bring("lan", "192.0.2.1/24", "\(prefix)::1/64", "fe80::1/64")
                + ProviderNetwork.bring("wan", "\(near)/30", "2001:db8:f000:\(number)::2/64", "fe80::2/64")
                + ["route add default via \(far)", "route add default via 2001:db8:f000:\(number)::1"])
        try ProviderNetwork.batch(
            client, files, "client",
            ProviderNetwork.bring("up0", "192.0.2.2/24", "\(prefix)::2/64", "fe80::3/64")
                + ["route add default via 192.0.2.1", "route add default via \(prefix)::1"])
        // Without a limit for what the router reports: the kernel has one for all namespaces, which other tests use,
        // too.
        try router.run(
            "sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1", "net.ipv4.icmp_ratemask=0")
        try client.run("sysctl", "-qw", "net.ipv4.ping_group_range=0 0")
        try filter(
            router, "table ip home { chain post { type nat hook postrouting priority 100; oif wan masquerade; }; }")
    }

    /// The provider's end of the line.
    var providerLink: String { "home\(number)" }

    func remove() {
        // At once, and not some time after the namespaces, so that a home of the same number can follow.
        _ = try? network.provider.run("ip", "link", "delete", providerLink)
        client.remove()
        router.remove()
    }

    /// Loads a table of nft.
    func filter(_ namespace: TestNamespace, _ table: String) throws {
        try namespace.run("nft", "-f", try files.file("rules.nft", table + "\n"))
    }

    /// The home router drops, rejects or changes forwarded packets.
    func forward(_ rule: String) throws {
        try filter(router, "table inet forward { chain f { type filter hook forward priority 0; \(rule); }; }")
    }

    /// The output of `reach explain --probe` in the client, with name servers, endpoints and an environment of its own.
    func explain(
        _ target: String, servers: [String], endpoints: [String], environment: [String], options: [String] = ["--json"]
    ) throws -> (output: String, status: Int) {
        let resolver = try files.file("resolv.conf", servers.map { "nameserver \($0)\n" }.joined())
        let list = endpoints.map { "\"\($0)\"" }.joined(separator: ", ")
        let anchors = ProviderNetwork.anchors.map { "\"\($0)\"" }.joined(separator: ", ")
        let pages = endpoints.isEmpty ? "" : "[connectivity]\nendpoints = [\(list)]\n"
        try files.file("reach.toml", "[internet]\nanchors = [\(anchors)]\n" + pages)
        // `ip netns exec` gives each process mounts of its own.
        let mounts = [
            (resolver, "/etc/resolv.conf"),
            (network.authority.root.certificatePath, "/etc/ssl/certs/ca-certificates.crt"),
        ].map { "mount --bind \($0) \($1) && " }.joined()
        let variables = (["CONFIGURATION_DIRECTORY=\(files.path)"] + environment).joined(separator: " ")
        let words = (["explain", "--probe"] + options + [target]).joined(separator: " ")
        let output = try client.run(
            "sh", "-c", "\(mounts){ env \(variables) \(BuiltProgram.reach.path) \(words); echo $?; }")
        let lines = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        return (lines.dropLast().joined(separator: "\n"), Int(lines.last ?? "") ?? -1)
    }
}
