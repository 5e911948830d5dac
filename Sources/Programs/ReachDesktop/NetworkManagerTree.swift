package import ReachCore

/// NetworkManager's objects, as far as programs that only look at the network read them, made from the state of the
/// Internet.
package enum NetworkManagerTree {
    /// The name on the bus, and the interface of the main object.
    package static let service = "org.freedesktop.NetworkManager"
    package static let objectManager = "/org/freedesktop"
    package static let main = "/org/freedesktop/NetworkManager"
    package static let settings = main + "/Settings"
    /// The version of NetworkManager whose interface this follows: clients compare it with what they need.
    package static let version = "1.42.0"

    /// A link over which the Internet is reached.
    private struct Carrier {
        let name: String
        let index: InterfaceIndex
        let type: NetworkManagerLinkType
        var carries4 = false
        var carries6 = false
        var connectivity: (UInt32, UInt32) = (0, 0)

        var device: String { "\(main)/Devices/\(index)" }
        var connection: String { "\(main)/ActiveConnection/\(index)" }
    }

    /// - Parameters:
    ///   - state: The state of the Internet.
    ///   - index: The index of a link that is known by its name alone, one below a tunnel.
    /// - Returns: `nil` if the state is unknown.
    package static func make(_ state: ReachabilityState, index: (String) -> InterfaceIndex?) -> BusTree? {
        guard let words = NetworkManagerWords(state) else { return nil }
        let carriers = state.isReachable ? carriers(of: state, index) : []
        var objects: [String: BusTree.Interfaces] = [
            main: [service: mainProperties(state, words, carriers)],
            settings: [
                service + ".Settings": ["Connections": .paths([]), "CanModify": .bool(false)]
            ],
        ]
        for carrier in carriers {
            objects[carrier.device] = device(carrier, words)
            objects[carrier.connection] = connection(carrier)
        }
        return BusTree(objects)
    }

    /// The signals that lead a client from one tree to the next, also those that NetworkManager had before D-Bus had
    /// signals for properties.
    package static func signals(from earlier: BusTree, to later: BusTree) -> [BusSignal] {
        func main(_ tree: BusTree, _ property: String) -> BusValue? { tree.objects[Self.main]?[service]?[property] }
        var signals = later.signals(since: earlier, manager: objectManager)
        if let state = main(later, "State"), state != main(earlier, "State") {
            signals.append(BusSignal(Self.main, service, "StateChanged", [state]))
        }
        let (before, after) = (paths(main(earlier, "Devices")), paths(main(later, "Devices")))
        for path in after where !before.contains(path) {
            signals.append(BusSignal(Self.main, service, "DeviceAdded", [.path(path)]))
        }
        for path in before where !after.contains(path) {
            signals.append(BusSignal(Self.main, service, "DeviceRemoved", [.path(path)]))
        }
        return signals
    }

    private static func paths(_ value: BusValue?) -> [String] {
        guard case .array(_, let elements) = value else { return [] }
        return elements.compactMap { if case .path(let path) = $0 { path } else { nil } }
    }

    // MARK: - The links

    /// The links that carry the Internet, the preferred one first. A tunnel's carrier follows it.
    private static func carriers(of state: ReachabilityState, _ index: (String) -> InterfaceIndex?) -> [Carrier] {
        var carriers: [Carrier] = []
        for (family, path) in [(IPAddress.Family.ipv4, state.ipv4), (.ipv6, state.ipv6)] where path.status == .reachable
        {
            guard let name = path.interface, let number = path.interfaceIndex else { continue }
            add(Carrier(name: name, index: number, type: .init(path.linkClass)), to: &carriers)
            guard let place = carriers.firstIndex(where: { $0.index == number }) else { continue }
            let proof = NetworkManagerWords.Connectivity(path.connectivity, isValidated: state.isValidated).rawValue
            if family == .ipv4 {
                (carriers[place].carries4, carriers[place].connectivity.0) = (true, proof)
            } else {
                (carriers[place].carries6, carriers[place].connectivity.1) = (true, proof)
            }
            if path.linkClass == .tunnel, let lower = path.lower.first, let below = index(lower) {
                add(Carrier(name: lower, index: below, type: .init(path.carrierClass)), to: &carriers)
            }
        }
        return carriers
    }

    private static func add(_ carrier: Carrier, to carriers: inout [Carrier]) {
        if !carriers.contains(where: { $0.index == carrier.index }) { carriers.append(carrier) }
    }

    /// The connection that NetworkManager calls the primary one: behind a tunnel, the one that carries it.
    private static func primary(_ carriers: [Carrier]) -> Carrier? {
        let tunnel = NetworkManagerLinkType(.tunnel)
        return carriers.first { $0.type != tunnel } ?? carriers.first
    }

    // MARK: - Properties

    private static func mainProperties(
        _ state: ReachabilityState, _ words: NetworkManagerWords, _ carriers: [Carrier]
    ) -> BusTree.Properties {
        let primary = primary(carriers)
        let devices = BusValue.paths(carriers.map(\.device))
        return [
            "ActivatingConnection": .path("/"),
            "ActiveConnections": .paths(carriers.map(\.connection)),
            "AllDevices": devices,
            "Capabilities": .array(element: "u", []),
            "Checkpoints": .paths([]),
            "Connectivity": .uint32(words.connectivity.rawValue),
            "ConnectivityCheckAvailable": .bool(state.isValidated),
            "ConnectivityCheckEnabled": .bool(state.isValidated),
            "Devices": devices,
            "Metered": .uint32(words.metered.rawValue),
            "NetworkingEnabled": .bool(true),
            "PrimaryConnection": .path(primary?.connection ?? "/"),
            "PrimaryConnectionType": .string(primary?.type.connection ?? ""),
            "Startup": .bool(false),
            "State": .uint32(words.state.rawValue),
            "Version": .string(version),
            // As far as it is known: a radio that is off is named only where it is why the Internet is not reached.
            "WirelessEnabled": .bool(state.rootCause?.kind != .radioBlocked),
            "WirelessHardwareEnabled": .bool(state.rootCause?.kind != .radioSwitchedOff),
            "WwanEnabled": .bool(true),
            "WwanHardwareEnabled": .bool(true),
        ]
    }

    /// NM_DEVICE_STATE_ACTIVATED, and NM_ACTIVE_CONNECTION_STATE_ACTIVATED.
    private static let (activatedDevice, activatedConnection): (UInt32, UInt32) = (100, 2)

    private static func device(_ carrier: Carrier, _ words: NetworkManagerWords) -> BusTree.Interfaces {
        var own: BusTree.Properties = [:]
        // The link carries packets.
        if carrier.type == NetworkManagerLinkType(.wired) { own["Carrier"] = .bool(true) }
        if carrier.type == NetworkManagerLinkType(.wifi) {
            own = ["AccessPoints": .paths([]), "ActiveAccessPoint": .path("/"), "Mode": .uint32(2)]
        }
        return [
            service + ".Device": [
                "ActiveConnection": .path(carrier.connection),
                "AvailableConnections": .paths([]),
                "DeviceType": .uint32(carrier.type.device),
                "Interface": .string(carrier.name),
                "Ip4Connectivity": .uint32(carrier.connectivity.0),
                "Ip6Connectivity": .uint32(carrier.connectivity.1),
                "IpInterface": .string(carrier.name),
                // Programs take a link that is not managed for one that is not used.
                "Managed": .bool(true),
                "Metered": .uint32(words.metered.rawValue),
                "Real": .bool(true),
                "State": .uint32(activatedDevice),
                "StateReason": .structure([.uint32(activatedDevice), .uint32(0)]),
            ],
            carrier.type.interface: own,
        ]
    }

    private static func connection(_ carrier: Carrier) -> BusTree.Interfaces {
        // Of a link that has no name of its own beyond its index.
        let digits = String(carrier.index, radix: 16)
        let uuid = "00000000-0000-0000-0000-" + String(repeating: "0", count: max(0, 12 - digits.utf8.count)) + digits
        return [
            service + ".Connection.Active": [
                "Connection": .path("/"),
                "Default": .bool(carrier.carries4),
                "Default6": .bool(carrier.carries6),
                "Devices": .paths([carrier.device]),
                "Dhcp4Config": .path("/"),
                "Dhcp6Config": .path("/"),
                "Id": .string(carrier.name),
                "Ip4Config": .path("/"),
                "Ip6Config": .path("/"),
                "Master": .path("/"),
                "SpecificObject": .path("/"),
                "State": .uint32(activatedConnection),
                "StateFlags": .uint32(0),
                "Type": .string(carrier.type.connection),
                "Uuid": .string(uuid),
                "Vpn": .bool(false),
            ]
        ]
    }
}
