internal import ReachCore

/// The objects that a service has on the bus, with their interfaces and properties.
package struct BusTree: Equatable, Sendable {
    package typealias Properties = [String: BusValue]
    package typealias Interfaces = [String: Properties]

    /// By path.
    package var objects: [String: Interfaces]

    package init(_ objects: [String: Interfaces] = [:]) { self.objects = objects }

    /// The object, or a path that leads to one, exists.
    package func contains(_ path: String) -> Bool { objects[path] != nil || !children(of: path).isEmpty }

    /// The names of the next level below a path.
    package func children(of path: String) -> [String] {
        let prefix = path == "/" ? path : path + "/"
        let names = objects.keys.compactMap { key -> String? in
            guard key.hasUTF8Prefix(prefix), key != prefix else { return nil }
            return key.utf8.dropFirst(prefix.utf8.count).split(separator: UInt8(ascii: "/")).first.map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        return Set(names).sorted()
    }

    /// What org.freedesktop.DBus.ObjectManager.GetManagedObjects answers for an object manager at this path.
    package func managed(below manager: String) -> BusValue {
        .array(
            element: "{oa{sa{sv}}}",
            objects.filter { $0.key.hasUTF8Prefix(manager + "/") }.sorted { $0.key < $1.key }
                .map { .entry(.path($0.key), .interfaces($0.value)) })
    }
}

/// A signal that a service sends.
package struct BusSignal: Equatable, Sendable {
    package var path: String
    package var interface: String
    package var member: String
    package var arguments: [BusValue]

    package init(_ path: String, _ interface: String, _ member: String, _ arguments: [BusValue]) {
        (self.path, self.interface, self.member, self.arguments) = (path, interface, member, arguments)
    }
}

extension BusTree {
    package static let propertiesInterface = "org.freedesktop.DBus.Properties"
    package static let managerInterface = "org.freedesktop.DBus.ObjectManager"

    /// The signals that lead a client from an earlier tree to this one: new objects first, so that a property can name
    /// them, and objects that are gone last.
    ///
    /// - Parameter manager: The path of the object manager.
    package func signals(since earlier: BusTree, manager: String) -> [BusSignal] {
        var signals: [BusSignal] = []
        for (path, interfaces) in sorted where earlier.objects[path] == nil {
            let arguments: [BusValue] = [.path(path), .interfaces(interfaces)]
            signals.append(BusSignal(manager, Self.managerInterface, "InterfacesAdded", arguments))
        }
        for (path, interfaces) in sorted {
            guard let before = earlier.objects[path] else { continue }
            for (interface, properties) in interfaces.sorted(by: { $0.key < $1.key }) {
                let changed = properties.filter { before[interface]?[$0.key] != $0.value }
                guard !changed.isEmpty else { continue }
                let arguments: [BusValue] = [.string(interface), .properties(changed), .strings([])]
                signals.append(BusSignal(path, Self.propertiesInterface, "PropertiesChanged", arguments))
            }
        }
        for (path, interfaces) in earlier.sorted where objects[path] == nil {
            let arguments: [BusValue] = [.path(path), .strings(interfaces.keys.sorted())]
            signals.append(BusSignal(manager, Self.managerInterface, "InterfacesRemoved", arguments))
        }
        return signals
    }

    private var sorted: [(key: String, value: Interfaces)] { objects.sorted { $0.key < $1.key } }
}
