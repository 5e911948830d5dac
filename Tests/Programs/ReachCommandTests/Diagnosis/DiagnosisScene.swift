import ReachCore
import ReachRecords
import ReachTesting

/// A home that is broken in one way, and what `reach explain --probe` must say.
struct DiagnosisScene: Sendable {
    let name: String
    var target = "https://www.example.net/204"
    var servers = ["198.51.100.53"]
    var endpoints: [String] = []
    var environment: [String] = []
    let outcome: Diagnosis.Outcome
    let party: Diagnosis.Party?
    let layer: OutageLayer?
    let subject: Diagnosis.Step.Subject?
    var breaks: @Sendable (HomeNetwork) throws -> Void = { _ in }

    init(
        _ name: String, _ outcome: Diagnosis.Outcome, _ party: Diagnosis.Party? = nil, _ layer: OutageLayer? = nil,
        _ subject: Diagnosis.Step.Subject? = nil, _ change: (inout DiagnosisScene) -> Void = { _ in }
    ) {
        self.name = name
        self.outcome = outcome
        self.party = party
        self.layer = layer
        self.subject = subject
        change(&self)
    }

    static let all: [DiagnosisScene] = healthy + local + gateways + beyond + names + servers + exchanges
}

extension DiagnosisScene {
    private static let literal = "tcp://198.51.100.80:80"

    static let healthy: [DiagnosisScene] = [
        Self("all is well", .ok),
        Self("all is well with an endpoint", .ok) {
            $0.target = "internet"
            $0.endpoints = ["http://check.example.net/204"]
        },
        Self("all is well without an endpoint", .ok) { $0.target = "internet" },
        Self("a bare host", .ok) { $0.target = "v4.example.net" },
    ]

    static let local: [DiagnosisScene] = [
        Self("carrier out", .failed, .localNetwork, .link, .link) {
            $0.breaks = { try $0.router.run("ip", "link", "set", "lan", "down") }
        },
        Self("link down", .failed, .thisMachine, .link, .link) {
            $0.breaks = { try $0.client.run("ip", "link", "set", "up0", "down") }
        },
        Self("no address", .failed, .localNetwork, .address, .address) {
            $0.breaks = { try $0.client.run("ip", "address", "flush", "dev", "up0") }
        },
        Self("no route", .failed, .thisMachine, .route, .route) {
            $0.target = literal
            $0.breaks = { try $0.client.run("ip", "route", "delete", "default") }
        },
        Self("blackhole route", .failed, .thisMachine, .route, .route) {
            $0.target = literal
            $0.breaks = { try $0.client.run("ip", "route", "add", "blackhole", "198.51.100.80/32") }
        },
        Self("prohibit route", .failed, .thisMachine, .route, .route) {
            $0.target = literal
            $0.breaks = { try $0.client.run("ip", "route", "add", "prohibit", "198.51.100.80/32") }
        },
        Self("a firewall of this machine", .failed, .thisMachine, .route, .connect) {
            $0.target = literal
            $0.breaks = { home in
                let rule = "type filter hook output priority 0; ip daddr 198.51.100.80 drop"
                try home.filter(home.client, "table inet own { chain o { \(rule); }; }")
            }
        },
        Self("answers come in by another interface", .failed, .thisMachine, .route, .route) {
            $0.target = literal
            $0.breaks = { home in
                try ProviderNetwork.batch(
                    home.router, home.files, "lan2",
                    [
                        "link add lan2 type veth peer name up2 address 02:00:00:00:00:22 netns \(home.client.name)",
                        "link set lan2 up", "neigh add 192.0.2.2 lladdr 02:00:00:00:00:22 dev lan2",
                    ])
                try home.client.run("ip", "link", "set", "up2", "up")
                try home.client.run("sysctl", "-qw", "net.ipv4.conf.up2.rp_filter=1")
                try home.router.run("ip", "route", "add", "192.0.2.2/32", "dev", "lan2")
            }
        },
    ]

    static let gateways: [DiagnosisScene] = [
        Self("gateway without ARP", .failed, .localNetwork, .gateway, .gateway) { $0.breaks = noARP },
        Self("gateway without ARP, for an address", .failed, .localNetwork, .gateway, .gateway) {
            $0.target = literal
            $0.breaks = noARP
        },
        Self("gateway without neighbour discovery", .failed, .localNetwork, .gateway, .gateway) {
            $0.target = "http://[2001:db8:80::80]/204"
            $0.breaks = noNeighbourDiscovery
        },
        Self("gateway without neighbour discovery, and IPv4 works", .degraded, .localNetwork, .gateway, .gateway) {
            $0.breaks = noNeighbourDiscovery
        },
        Self("a known gateway dies", .failed, .localNetwork, .gateway, .gateway) {
            $0.target = literal
            $0.breaks = { home in
                // The client's entry is valid, so that only asking again shows it.
                let entry = "neigh replace 192.0.2.1 lladdr 02:00:00:00:00:99 dev up0 nud stale"
                try ProviderNetwork.batch(home.client, home.files, "stale", [entry])
                try noARP(home)
                try home.forward("drop")
            }
        },
        Self("a host on the link is off", .failed, .server, .gateway, .gateway) { $0.target = "tcp://192.0.2.7:22" },
    ]

    @Sendable private static func noARP(_ home: HomeNetwork) throws {
        try home.filter(home.router, "table arp a { chain i { type filter hook input priority 0; policy drop; }; }")
    }

    @Sendable private static func noNeighbourDiscovery(_ home: HomeNetwork) throws {
        let rule = "type filter hook input priority 0; iif lan icmpv6 type nd-neighbor-solicit drop"
        try home.filter(home.router, "table ip6 n { chain i { \(rule); }; }")
    }

    static let beyond: [DiagnosisScene] = [
        Self("provider dark", .failed, .provider, .internet, .internet) { $0.breaks = { try $0.forward("drop") } },
        Self("provider dark, for an address", .failed, .provider, .internet, .internet) {
            $0.target = literal
            $0.breaks = { try $0.forward("drop") }
        },
        Self("provider dark, for the Internet", .failed, .provider, .internet, .internet) {
            $0.target = "internet"
            $0.breaks = { try $0.forward("drop") }
        },
        Self("provider dark in IPv6", .degraded, .provider, .internet, .internet) {
            $0.breaks = { try $0.forward("meta nfproto ipv6 drop") }
        },
        Self("the gateway has no way", .failed, .provider, .internet, .internet) {
            $0.target = literal
            $0.breaks = { try $0.router.run("ip", "route", "delete", "default") }
        },
        Self("the gateway forbids it", .failed, .localNetwork, .internet, .internet) {
            $0.target = literal
            $0.breaks = { try $0.forward("ip daddr 198.51.100.80 reject with icmpx admin-prohibited") }
        },
        Self("the provider forbids it", .failed, .provider, .internet, .internet) {
            $0.target = literal
            $0.breaks = { home in
                let link = home.providerLink
                let rule = "type filter hook forward priority 0; iif \(link) reject with icmpx admin-prohibited"
                try home.filter(home.network.provider, "table inet \(link) { chain f { \(rule); }; }")
            }
        },
        Self("large packets vanish", .failed, .provider, .internet, .mtu) {
            $0.breaks = { try $0.forward("meta length > 600 drop") }
        },
    ]
}
