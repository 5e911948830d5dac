internal import ReachCore
internal import ReachDesktop
internal import Testing

@Suite struct NetworkManagerTreeTests {
    private static let main = "/org/freedesktop/NetworkManager"
    private static let service = "org.freedesktop.NetworkManager"

    private func tree(_ state: ReachabilityState, _ indices: [String: InterfaceIndex] = [:]) throws -> BusTree {
        try #require(NetworkManagerTree.make(state) { indices[$0] })
    }

    private func property(_ name: String, of tree: BusTree) -> BusValue? {
        tree.objects[Self.main]?[Self.service]?[name]
    }

    @Test func `a Wi-Fi link is the primary connection, with its device`() throws {
        let tree = try tree(Sample.reachable(by: Sample.path("wlan0", 3, .wifi)))
        #expect(property("PrimaryConnection", of: tree) == .path(Self.main + "/ActiveConnection/3"))
        #expect(property("PrimaryConnectionType", of: tree) == .string("802-11-wireless"))
        let connection = tree.objects[Self.main + "/ActiveConnection/3"]?[Self.service + ".Connection.Active"]
        #expect(connection?["Devices"] == .paths([Self.main + "/Devices/3"]))
        #expect(connection?["Default"] == .bool(true))
        #expect(connection?["Default6"] == .bool(false))
        let device = tree.objects[Self.main + "/Devices/3"]
        #expect(device?[Self.service + ".Device"]?["DeviceType"] == .uint32(2))
        #expect(device?[Self.service + ".Device.Wireless"] != nil)
    }

    @Test func `behind a tunnel the connection that carries it is the primary one`() throws {
        var path = Sample.path("wg0", 7, .tunnel)
        (path.lower, path.carrierClass) = (["eth0"], .wired)
        let known = try tree(Sample.reachable(by: path), ["eth0": 2])
        #expect(property("PrimaryConnectionType", of: known) == .string("802-3-ethernet"))
        #expect(
            property("ActiveConnections", of: known)
                == .paths([Self.main + "/ActiveConnection/7", Self.main + "/ActiveConnection/2"]))
        let vanished = try tree(Sample.reachable(by: path))
        #expect(property("PrimaryConnectionType", of: vanished) == .string("tun"))
    }

    @Test func `two families over one link are one connection, over two links two`() throws {
        var state = Sample.reachable()
        state.ipv6 = Sample.path("eth0", 2, .wired)
        #expect(property("Devices", of: try tree(state)) == .paths([Self.main + "/Devices/2"]))
        state.ipv6 = Sample.path("wwan0", 5, .wwan)
        #expect(
            property("Devices", of: try tree(state)) == .paths([Self.main + "/Devices/2", Self.main + "/Devices/5"]))
    }

    @Test func `a loss is announced in an order in which no property names an object that is gone`() throws {
        let before = try tree(Sample.reachable())
        let after = try tree(Sample.lost(.noCarrier))
        let signals = NetworkManagerTree.signals(from: before, to: after)
        #expect(
            signals.map(\.member) == [
                "PropertiesChanged", "InterfacesRemoved", "InterfacesRemoved", "StateChanged", "DeviceRemoved",
            ])
        #expect(signals[3].arguments == [.uint32(20)])
        let back = NetworkManagerTree.signals(from: after, to: before).map(\.member)
        #expect(back == ["InterfacesAdded", "InterfacesAdded", "PropertiesChanged", "StateChanged", "DeviceAdded"])
        #expect(NetworkManagerTree.signals(from: before, to: before) == [])
    }

    @Test func `a change of one property announces this one alone`() throws {
        let before = try tree(Sample.reachable())
        var state = Sample.reachable()
        state.isMetered = true
        let signals = NetworkManagerTree.signals(from: before, to: try tree(state))
        let metered = BusValue.properties(["Metered": .uint32(3)])
        let changed = signals.filter { $0.path == Self.main }
        #expect(changed.map(\.arguments) == [[.string(Self.service), metered, .strings([])]])
    }

    // MARK: - Calls

    private func answer(
        _ path: String, _ interface: String?, _ member: String, _ signature: String = "", _ texts: [String] = []
    ) throws -> Result<[BusValue], BusFailure> {
        let tree = try tree(Sample.reachable())
        return Result { () throws(BusFailure) in
            try NetworkManagerAnswers.answer(
                BusCall(path, interface, member, signature: signature, texts: texts), from: tree)
        }
    }

    private static let properties = "org.freedesktop.DBus.Properties"

    @Test func `calls that read are answered, also without the name of an interface`() throws {
        #expect(try answer(Self.main, Self.service, "state") == .success([.uint32(70)]))
        #expect(try answer(Self.main, nil, "CheckConnectivity") == .success([.uint32(4)]))
        #expect(try answer(Self.main, Self.service, "GetDevices") == .success([.paths([Self.main + "/Devices/2"])]))
        #expect(
            try answer(Self.main, Self.service, "GetDeviceByIpIface", "s", ["eth0"])
                == .success([.path(Self.main + "/Devices/2")]))
        #expect(
            try answer(Self.main, Self.properties, "Get", "ss", [Self.service, "State"])
                == .success([.variant(.uint32(70))]))
        #expect(
            try answer(Self.main + "/Settings", Self.service + ".Settings", "ListConnections") == .success([.paths([])])
        )
    }

    @Test(arguments: [
        ("/org/freedesktop/NetworkManager/Devices/9", "state", "", "UnknownObject"),
        ("/org/freedesktop/NetworkManager", "Sleep", "b", "UnknownMethod"),
        ("/org/freedesktop/NetworkManager", "ActivateConnection", "ooo", "UnknownMethod"),
        ("/org/freedesktop/NetworkManager", "state", "s", "InvalidArgs"),
        ("/org/freedesktop/NetworkManager", "GetDeviceByIpIface", "", "InvalidArgs"),
    ])
    func `other calls are refused with a word for why`(
        path: String, member: String, signature: String, word: String
    ) throws {
        guard case .failure(let failure) = try answer(path, Self.service, member, signature) else {
            Issue.record("\(member) was answered")
            return
        }
        #expect(failure.name == "org.freedesktop.DBus.Error." + word)
    }

    @Test func `nothing can be set, and what is not there is said to be so`() throws {
        func word(_ member: String, _ signature: String, _ texts: [String]) throws -> String? {
            guard case .failure(let failure) = try answer(Self.main, Self.properties, member, signature, texts) else {
                return nil
            }
            return failure.name.split(separator: ".").last.map(String.init)
        }
        #expect(try word("Set", "ssv", [Self.service, "WirelessEnabled"]) == "PropertyReadOnly")
        #expect(try word("Get", "ss", [Self.service, "DnsMode"]) == "UnknownProperty")
        #expect(try word("GetAll", "s", ["org.example"]) == "UnknownInterface")
    }

    @Test func `the description of an object names its methods, properties and what lies below it`() throws {
        guard case .success(let values) = try answer(Self.main, "org.freedesktop.DBus.Introspectable", "Introspect"),
            case .string(let text)? = values.first
        else {
            Issue.record("there is none")
            return
        }
        #expect(text.contains("<property name=\"Connectivity\" type=\"u\" access=\"read\"/>"))
        #expect(text.contains("<signal name=\"StateChanged\">\n   <arg type=\"u\"/>"))
        #expect(
            text.contains(
                "<method name=\"Get\">\n   <arg type=\"s\" direction=\"in\"/>\n   <arg type=\"s\" direction=\"in\"/>"))
        #expect(text.contains("<node name=\"ActiveConnection\"/>"))
    }
}
