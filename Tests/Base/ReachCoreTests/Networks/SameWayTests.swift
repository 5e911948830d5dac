import ReachCore
import Testing

/// Which changes of a path end an attempt that is on its way.
@Suite struct SameWayTests {
    private var path: NetworkPath {
        var path = NetworkPath(status: .reachable)
        path.gateway = IPAddress(ipv4: 0xc000_0201)
        return path
    }

    @Test func `what is learnt of the network makes no other way`() {
        var later = path
        (later.network, later.isTrusted, later.meteredReason) = ("office", true, .configuration)
        later.accessPoint = HardwareAddress("02:00:00:00:00:01")
        #expect(later.leadsTheSameWay(as: path) && !later.isSamePath(as: path))
    }

    @Test func `another gateway, and metering, make another way`() {
        var (other, metered) = (path, path)
        other.gateway = IPAddress(ipv4: 0xc000_0202)
        metered.isMetered = true
        #expect(!other.leadsTheSameWay(as: path) && !metered.leadsTheSameWay(as: path))
    }
}
