import ReachCore
import ReachRecords

extension DiagnosisScene {
    static let names: [DiagnosisScene] = [
        Self("no name server is configured", .failed, .thisMachine, .name, .nameServer) { $0.servers = [] },
        Self("a firewall of this machine, for the name server", .failed, .thisMachine, .name, .nameServer) {
            $0.breaks = { home in
                let rule = "type filter hook output priority 0; meta l4proto { tcp, udp } th dport 53 drop"
                try home.filter(home.client, "table inet own { chain o { \(rule); }; }")
            }
        },
        Self("name server silent", .failed, .nameServer, .name, .nameServer) { $0.servers = ["198.51.100.60"] },
        Self("name server refuses", .failed, .nameServer, .name, .nameServer) { $0.servers = ["198.51.100.61"] },
        Self("name server fails", .failed, .nameServer, .name, .nameServer) { $0.servers = ["198.51.100.55"] },
        Self("name server off, on the link", .failed, .nameServer, .name, .gateway) { $0.servers = ["192.0.2.53"] },
        Self("second name server silent", .degraded, .nameServer, .name, .nameServer) {
            $0.servers = ["198.51.100.53", "198.51.100.60"]
        },
        Self("first name server silent", .degraded, .nameServer, .name, .nameServer) {
            $0.servers = ["198.51.100.60", "198.51.100.53"]
        },
        Self("no TCP to the name server", .degraded, .nameServer, .name, .nameServer) {
            $0.servers = ["198.51.100.54"]
        },
        Self("name servers disagree", .degraded, .nameServer, .name, .nameServer) {
            $0.servers = ["198.51.100.53", "198.51.100.56"]
        },
        Self("name servers disagree, the wrong one first", .failed, .nameServer, .name, .nameServer) {
            $0.servers = ["198.51.100.56", "198.51.100.53"]
        },
        Self("no such name", .failed, .server, .name, .name) { $0.target = "http://wwww.example.net/" },
        Self("a name without addresses", .failed, .server, .name, .name) { $0.target = "http://empty.example.net/" },
    ]

    static let servers: [DiagnosisScene] = [
        Self("port closed", .failed, .server, .target, .connect) { $0.target = "v4.example.net:81" },
        Self("port filtered", .failed, .server, .target, .connect) { $0.target = "v4.example.net:82" },
        Self("the host forbids it", .failed, .server, .target, .connect) { $0.target = "tcp://198.51.100.87:80" },
        Self("the host is dead", .failed, .server, .target, .connect) { $0.target = "tcp://198.51.100.88:80" },
        Self("one of two addresses dead", .degraded, .server, .target, .connect) {
            $0.target = "http://two.example.net/204"
        },
        Self("proxy refuses", .failed, .proxy, .target, .proxy) { $0.environment = [proxy(3129)] },
        Self("proxy dead", .failed, .proxy, .target, .proxy) { $0.environment = [proxy(3130)] },
        Self("proxy wants a login", .failed, .proxy, .target, .proxy) { $0.environment = [proxy(3128)] },
    ]

    private static func proxy(_ port: Int) -> String { "https_proxy=http://198.51.100.90:\(port)" }

    static let exchanges: [DiagnosisScene] = [
        Self("certificate expired", .failed, .server, .target, .tls) { $0.target = "https://expired.example.net/204" },
        Self("another host's certificate", .failed, .server, .target, .tls) {
            $0.target = "https://wrong.example.net/204"
        },
        Self("unknown authority", .failed, .server, .target, .tls) { $0.target = "https://unknown.example.net/204" },
        Self("handshake silent", .failed, .server, .target, .tls) { $0.target = "https://silent.example.net/" },
        Self("handshake silent, without a request", .failed, .server, .target, .tls) {
            $0.target = "tls://silent.example.net"
        },
        Self("clock wrong", .failed, .thisMachine, .target, .clock) { $0.target = "https://clock.example.net/" },
        Self("HTTP 500", .failed, .server, .target, .http) { $0.target = "https://www.example.net/500" },
        Self("HTTP 503", .failed, .server, .target, .http) { $0.target = "http://v4.example.net/503" },
        Self("HTTP 404", .failed, .server, .target, .http) { $0.target = "http://v4.example.net/nothing" },
        Self("an answer that is no HTTP", .failed, .server, .target, .http) { $0.target = "http://198.51.100.84/" },
        Self("the server cuts the connection", .failed, .server, .target, .http) {
            $0.target = "http://198.51.100.84:81/"
        },
        Self("HTTP hangs", .failed, .server, .target, .http) { $0.target = "http://198.51.100.86/" },
        Self("portal redirects", .failed, .localNetwork, .portal, .portal) {
            $0.target = "internet"
            $0.endpoints = ["http://check.example.net/204"]
            $0.breaks = portal
        },
        Self("portal drops all but HTTP", .failed, .localNetwork, .portal, .portal) {
            $0.endpoints = ["http://check.example.net/204"]
            $0.breaks = { home in
                try portal(home)
                try home.forward("tcp dport 443 drop")
            }
        },
        Self("portal in the name server", .failed, .localNetwork, .portal, .portal) {
            $0.servers = ["198.51.100.58"]
            $0.target = "http://v4.example.net/204"
        },
    ]

    @Sendable private static func portal(_ home: HomeNetwork) throws {
        let rule = "type nat hook prerouting priority -100; iif lan tcp dport 80 dnat to 198.51.100.70:80"
        try home.filter(home.router, "table ip portal { chain p { \(rule); }; }")
    }
}
