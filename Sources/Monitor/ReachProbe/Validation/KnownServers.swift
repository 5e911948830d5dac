internal import ReachCore
internal import ReachKernel

/// The servers that checks have met, and what they proved.
struct KnownServers {
    /// Those that last proved a path, and by which route.
    private var proofs: [DefaultRoute.Key: (route: DefaultRoute, servers: ProvenServers)] = [:]
    /// Those of the last checks. Traffic with them is our own, and does not show that other programs get through.
    private(set) var met: [TrafficQuestion.Remote] = []

    /// The addresses at which endpoints last gave the expected answer, by their URL, and by which route.
    private var pages: [DefaultRoute.Key: (route: DefaultRoute, addresses: [String: IPAddress])] = [:]

    private static let mostMet = 64
    /// The most servers of a path that a test connects to.
    private static let mostOfPath = 4
    /// The most paths whose servers are remembered, since interfaces come and go.
    private static let mostPaths = 64

    mutating func note(_ remotes: [TrafficQuestion.Remote]) {
        met.removeAll(where: remotes.contains)
        met = (met + remotes).suffix(Self.mostMet)
    }

    /// The servers that proved a path into the network that it still leads to.
    func proven(by route: DefaultRoute) -> ProvenServers? {
        proofs[route.key].flatMap { $0.route.leadsToSameNetwork(as: route) ? $0.servers : nil }
    }

    /// Notes the servers that proved a path, the latest first.
    mutating func noteProof(of route: DefaultRoute, by remotes: [TrafficQuestion.Remote], roundTrip: Duration?) {
        let old = proven(by: route)
        let all = remotes + (old?.remotes ?? []).filter { !remotes.contains($0) }
        if proofs[route.key] == nil, proofs.count >= Self.mostPaths { proofs = [:] }
        let servers = ProvenServers(
            remotes: Array(all.prefix(Self.mostOfPath)), roundTrip: roundTrip ?? old?.roundTrip ?? .zero)
        proofs[route.key] = (route, servers)
    }

    /// Where endpoints last gave the expected answer by a path into the network that it still leads to.
    func pages(by route: DefaultRoute) -> [String: IPAddress] {
        pages[route.key].flatMap { $0.route.leadsToSameNetwork(as: route) ? $0.addresses : nil } ?? [:]
    }

    mutating func notePages(of route: DefaultRoute, _ found: [String: IPAddress]) {
        guard !found.isEmpty else { return }
        let all = pages(by: route).merging(found) { $1 }
        if pages[route.key] == nil, pages.count >= Self.mostPaths { pages = [:] }
        pages[route.key] = (route, all)
    }

    mutating func forgetProofs() { (proofs, pages) = ([:], [:]) }
}
