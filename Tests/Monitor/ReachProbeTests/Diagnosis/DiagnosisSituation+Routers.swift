import ReachCore
import ReachProbe
import ReachRecords

/// Links whose routers announced a network that no longer holds, and machines that only claim to be routers.
extension DiagnosisSituation {
    private typealias World = DiagnosisWorld

    private static let gateway6 = IPAddress.at("2001:db8::1")
    private static let other6 = IPAddress.at("2001:db8::9")
    private static let usualOwner = HardwareAddress.at("02:00:00:00:00:01")
    private static let otherOwner = HardwareAddress.at("02:00:00:00:00:66")

    private static func address(
        _ text: String, length: UInt8 = 64, _ flags: InterfaceAddress.Flags = []
    ) -> InterfaceAddress {
        InterfaceAddress(interface: 2, address: .at(text), prefixLength: length, flags: flags)
    }

    /// IPv6 is dark; the link has these addresses, and what is sent from one of them is answered.
    private static func addresses(
        _ all: [InterfaceAddress], answering: String?, _ families: Set<IPAddress.Family> = [.ipv6]
    ) -> World.Change {
        { task in
            switch task {
            case .addresses(_, let family): .addresses(all.filter { $0.address.family == family })
            case .connectFrom(let source, _, _):
                .connected(source == answering.map { IPAddress.at($0) } ? .connected : .silent)
            default: World.dark(families)(task)
            }
        }
    }

    /// IPv6 is dark; these are the owners of the first router's and the other one's addresses.
    private static func routers(_ first: HardwareAddress, _ second: HardwareAddress?, forwards: Bool) -> World.Change {
        { task in
            switch task {
            case .routers(_, .ipv6): .routers(second == nil ? [gateway6] : [gateway6, other6])
            case .owners(let hop) where hop.address == gateway6: .owners([first])
            case .owners(let hop) where hop.address == other6: .owners(second.map { [$0] } ?? [])
            case .forward: .pinged(forwards ? .answered : .silent)
            default: World.dark([.ipv6])(task)
            }
        }
    }

    /// The first connection to a server is answered, and no exchange; the link has two routers.
    private static func secondConnectionIsLost(_ answer: SolicitationAnswer) -> World.Change {
        { task in
            switch task {
            case .exchange: .exchanged(ExchangeAnswer(.failure(.silent(.connect), "")))
            case .rivals: .routers([.at("192.0.2.66")])
            case .solicit(let hop) where hop.address == .at("192.0.2.66"): .solicited(answer)
            default: nil
            }
        }
    }

    static let ofRouters: [DiagnosisSituation] = [
        Self("the kernel sends by another router at times, which is off", .failed, .localNetwork, .gateway, .gateway) {
            $0.target = "http://198.51.100.80/"
            $0.change = secondConnectionIsLost(.silent)
        },
        Self("a server is silent, and a router that the kernel may use", .failed, .localNetwork, .gateway, .gateway) {
            $0.target = "http://198.51.100.80/"
            $0.change = { task in
                if case .connect(_, 80) = task { return .connected(.silent) }
                return secondConnectionIsLost(.silent)(task)
            }
        },
        Self("a second connection is lost, and a third one is answered", .ok) {
            $0.target = "http://198.51.100.80/"
            $0.change = { task in
                guard case .exchange(let exchange) = task else { return nil }
                return .exchanged(
                    ExchangeAnswer(
                        exchange.variant == .again ? .response(204) : .failure(.silent(.connect), "")))
            }
        },
        Self("a second connection is lost beside another router, which is there", .failed, .server, .target, .connect) {
            $0.target = "http://198.51.100.80/"
            $0.change = secondConnectionIsLost(.answered)
        },
        Self("the old network of a router is not withdrawn", .degraded, .localNetwork, .address, .address) {
            $0.change = addresses([address("2001:db8::2"), address("2001:db8:2::2")], answering: "2001:db8:2::2")
        },
        Self("an old lease beside the new one", .failed, .localNetwork, .address, .address) {
            $0.target = "tcp://198.51.100.80:443"
            $0.change = addresses(
                [address("192.0.2.2", length: 24), address("203.0.113.2", length: 24)], answering: "203.0.113.2",
                [.ipv4, .ipv6])
        },
        Self(
            "the old network of a router is not withdrawn, and no name is found", .failed, .localNetwork, .address,
            .address
        ) {
            $0.change = { task in
                let change = addresses(
                    [address("192.0.2.2", length: 24), address("203.0.113.2", length: 24)], answering: "203.0.113.2",
                    [.ipv4, .ipv6])
                if case .resolve = task { return .resolved(.notAsked) }
                return change(task)
            }
        },
        Self("another network of the link is dark as well", .degraded, .provider, .internet, .internet) {
            $0.change = addresses([address("2001:db8::2"), address("2001:db8:2::2")], answering: nil)
        },
        Self("another address of the same network proves nothing", .degraded, .provider, .internet, .internet) {
            $0.change = addresses([address("2001:db8::2"), address("2001:db8::3")], answering: "2001:db8::3")
        },
        Self("a unique local address is not tried in place of a global one", .degraded, .provider, .internet, .internet)
        {
            $0.change = addresses([address("2001:db8::2"), address("fd00:db8::2")], answering: "fd00:db8::2")
        },
        Self("only an address that is deprecated", .degraded, .undecided, .address, .address) {
            $0.change = addresses([address("2001:db8::2", .deprecated)], answering: nil)
        },
        Self("a deprecated address that works", .ok) {
            $0.change = { task in
                if case .addresses = task { .addresses([address("2001:db8::2", .deprecated)]) } else { nil }
            }
        },
        Self("a rogue router, while IPv4's passes IPv6 on", .degraded, .localNetwork, .gateway, .gateway) {
            $0.change = routers(otherOwner, usualOwner, forwards: true)
        },
        Self("a router that is another machine than IPv4's", .degraded, .undecided, .gateway, .gateway) {
            $0.change = routers(otherOwner, nil, forwards: false)
        },
        Self("of two routers the second one passes packets on", .degraded, .undecided, .gateway, .gateway) {
            $0.change = routers(usualOwner, otherOwner, forwards: true)
        },
        Self("of two routers neither passes packets on", .degraded, .provider, .internet, .internet) {
            $0.change = routers(usualOwner, otherOwner, forwards: false)
        },
    ]
}
