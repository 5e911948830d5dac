/// A value of D-Bus, as far as the objects here have them.
package indirect enum BusValue: Hashable, Sendable {
    case bool(Bool)
    case int32(Int32)
    case uint32(UInt32)
    case string(String)
    case path(String)
    /// - Parameter element: The type of the elements, which an empty array has too.
    case array(element: String, [BusValue])
    case structure([BusValue])
    case variant(BusValue)
    /// An entry of a dictionary, which is an array of entries.
    case entry(BusValue, BusValue)

    /// The type as D-Bus writes it.
    package var signature: String {
        switch self {
        case .bool: "b"
        case .int32: "i"
        case .uint32: "u"
        case .string: "s"
        case .path: "o"
        case .array(let element, _): "a" + element
        case .structure(let fields): "(" + fields.map(\.signature).joined() + ")"
        case .variant: "v"
        case .entry(let key, let value): "{" + key.signature + value.signature + "}"
        }
    }

    package static func paths(_ paths: [String]) -> BusValue { .array(element: "o", paths.map(BusValue.path)) }

    package static func strings(_ texts: [String]) -> BusValue { .array(element: "s", texts.map(BusValue.string)) }

    /// A dictionary of names and values of any type, in the order of the names.
    package static func properties(_ values: [String: BusValue]) -> BusValue {
        .array(
            element: "{sv}",
            values.sorted { $0.key < $1.key }.map { .entry(.string($0.key), .variant($0.value)) })
    }

    /// The interfaces of an object with their properties.
    package static func interfaces(_ interfaces: [String: [String: BusValue]]) -> BusValue {
        .array(
            element: "{sa{sv}}",
            interfaces.sorted { $0.key < $1.key }.map { .entry(.string($0.key), .properties($0.value)) })
    }
}
