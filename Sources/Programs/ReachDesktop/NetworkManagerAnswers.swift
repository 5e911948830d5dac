/// The answers to calls of NetworkManager's methods. Nothing here changes the network, and no method that would is
/// there.
package enum NetworkManagerAnswers {
    package static func answer(_ call: BusCall, from tree: BusTree) throws(BusFailure) -> [BusValue] {
        guard tree.contains(call.path) else {
            throw BusFailure(
                "UnknownObject", "there is no object \(call.path); reach-desktop has those that programs read")
        }
        guard let (interface, method) = method(for: call, in: tree) else {
            throw BusFailure(
                "UnknownMethod",
                "\(call.path) has no method \(call.interface.map { $0 + "." } ?? "")\(call.member): reach-desktop "
                    + "reports the network, and does not configure it")
        }
        guard call.signature == method.input else {
            throw BusFailure(
                "InvalidArgs", "\(interface).\(call.member) takes '\(method.input)', not '\(call.signature)'")
        }
        return try method.answer(call, tree)
    }

    private static func method(for call: BusCall, in tree: BusTree) -> (interface: String, BusMethod)? {
        for (interface, methods) in methods(of: call.path, in: tree)
        where call.interface == nil || call.interface == interface {
            if let method = methods[call.member] { return (interface, method) }
        }
        return nil
    }

    private typealias Methods = [String: BusMethod]

    /// The methods that an object has, by interface.
    private static func methods(of path: String, in tree: BusTree) -> [(interface: String, methods: Methods)] {
        var all: [(String, Methods)] = [(introspectable, [introspect.name: introspect.method])]
        if let interfaces = tree.objects[path] {
            all.append((BusTree.propertiesInterface, propertyMethods))
            for interface in interfaces.keys.sorted() { all.append((interface, ownMethods[interface] ?? [:])) }
        }
        if path == NetworkManagerTree.objectManager {
            all.append((BusTree.managerInterface, managerMethods))
        }
        return all
    }

    // MARK: - The methods

    private static let introspectable = "org.freedesktop.DBus.Introspectable"

    private static let introspect = (
        name: "Introspect",
        method: BusMethod("", "s") { (call, tree) throws(BusFailure) in
            [.string(introspection(of: call.path, in: tree))]
        }
    )

    private static let managerMethods: Methods = [
        "GetManagedObjects": BusMethod("", "a{oa{sa{sv}}}") { (call, tree) throws(BusFailure) in
            [tree.managed(below: call.path)]
        }
    ]

    private static let propertyMethods: Methods = [
        "Get": BusMethod("ss", "v") { (call, tree) throws(BusFailure) in
            guard let value = try properties(call, tree)[call.texts[1]] else {
                throw BusFailure("UnknownProperty", "\(call.texts[0]) has no property \(call.texts[1]) here")
            }
            return [.variant(value)]
        },
        "GetAll": BusMethod("s", "a{sv}") { (call, tree) throws(BusFailure) in [.properties(try properties(call, tree))]
        },
        "Set": BusMethod("ssv", "") { (_, _) throws(BusFailure) in
            throw BusFailure("PropertyReadOnly", "reach-desktop reports the network, and does not configure it")
        },
    ]

    private static func properties(_ call: BusCall, _ tree: BusTree) throws(BusFailure) -> BusTree.Properties {
        guard let properties = tree.objects[call.path]?[call.texts[0]] else {
            throw BusFailure("UnknownInterface", "\(call.path) has no interface \(call.texts[0])")
        }
        return properties
    }

    private static let ownMethods: [String: Methods] = [
        NetworkManagerTree.service: [
            // The daemon checks by itself whenever something changes, so that its last result is what a check would
            // find.
            "CheckConnectivity": BusMethod("", "u") { (_, tree) throws(BusFailure) in [main(tree, "Connectivity")] },
            "GetAllDevices": BusMethod("", "ao") { (_, tree) throws(BusFailure) in [main(tree, "AllDevices")] },
            "GetDeviceByIpIface": BusMethod("s", "o") { (call, tree) throws(BusFailure) in
                [.path(try device(call, tree))]
            },
            "GetDevices": BusMethod("", "ao") { (_, tree) throws(BusFailure) in [main(tree, "Devices")] },
            "GetPermissions": BusMethod("", "a{ss}") { (_, _) throws(BusFailure) in [.array(element: "{ss}", [])] },
            "state": BusMethod("", "u") { (_, tree) throws(BusFailure) in [main(tree, "State")] },
        ],
        NetworkManagerTree.service + ".Settings": [
            "ListConnections": BusMethod("", "ao") { (_, _) throws(BusFailure) in [.paths([])] }
        ],
    ]

    private static func main(_ tree: BusTree, _ property: String) -> BusValue {
        tree.objects[NetworkManagerTree.main]?[NetworkManagerTree.service]?[property] ?? .uint32(0)
    }

    private static func device(_ call: BusCall, _ tree: BusTree) throws(BusFailure) -> String {
        let name = BusValue.string(call.texts[0])
        let found = tree.objects.first { $0.value[NetworkManagerTree.service + ".Device"]?["IpInterface"] == name }
        guard let found else { throw BusFailure("InvalidArgs", "no link of this name carries the Internet") }
        return found.key
    }

    // MARK: - Introspection

    /// The signals that are sent beyond those for properties and objects.
    private static let signals: [String: [(name: String, type: String)]] = [
        NetworkManagerTree.service: [("StateChanged", "u"), ("DeviceAdded", "o"), ("DeviceRemoved", "o")],
        BusTree.propertiesInterface: [("PropertiesChanged", "sa{sv}as")],
        BusTree.managerInterface: [("InterfacesAdded", "oa{sa{sv}}"), ("InterfacesRemoved", "oas")],
    ]

    /// The XML that describes an object. All names in it are from here.
    private static func introspection(of path: String, in tree: BusTree) -> String {
        var text = """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node>

            """
        for (interface, methods) in methods(of: path, in: tree) {
            text += " <interface name=\"\(interface)\">\n"
            for (name, method) in methods.sorted(by: { $0.key < $1.key }) {
                text += "  <method name=\"\(name)\">\n"
                for (types, direction) in [(method.input, "in"), (method.output, "out")] {
                    for type in completeTypes(types) {
                        text += "   <arg type=\"\(type)\" direction=\"\(direction)\"/>\n"
                    }
                }
                text += "  </method>\n"
            }
            for signal in signals[interface] ?? [] {
                text += "  <signal name=\"\(signal.name)\">\n"
                for type in completeTypes(signal.type) { text += "   <arg type=\"\(type)\"/>\n" }
                text += "  </signal>\n"
            }
            for (name, value) in (tree.objects[path]?[interface] ?? [:]).sorted(by: { $0.key < $1.key }) {
                text += "  <property name=\"\(name)\" type=\"\(value.signature)\" access=\"read\"/>\n"
            }
            text += " </interface>\n"
        }
        for name in tree.children(of: path) { text += " <node name=\"\(name)\"/>\n" }
        return text + "</node>\n"
    }

    /// The complete types of which a signature consists.
    static func completeTypes(_ signature: String) -> [String] {
        var types: [String] = []
        var type: [UInt8] = []
        var depth = 0
        for byte in signature.utf8 {
            type.append(byte)
            if byte == UInt8(ascii: "(") || byte == UInt8(ascii: "{") { depth += 1 }
            if byte == UInt8(ascii: ")") || byte == UInt8(ascii: "}") { depth -= 1 }
            if depth == 0, byte != UInt8(ascii: "a") {
                types.append(String(decoding: type, as: UTF8.self))
                type = []
            }
        }
        return types
    }
}
