package import ReachCore

/// An error as Varlink has it: a name that programs know, and parameters that say more.
package struct VarlinkError: Error, Hashable, Sendable, CustomStringConvertible {
    package let name: String
    package let parameters: [String: JSONValue]

    package init(_ name: String, _ parameters: [String: JSONValue] = [:]) {
        self.name = name
        self.parameters = parameters
    }

    /// The name, and the parameters in the order of theirs.
    package var description: String {
        let told = parameters.sorted { $0.key < $1.key }.map { "\($0.key): \(Self.text($0.value))" }
        return DisplayText.sanitized(([name] + told).joined(separator: ", "))
    }

    private static func text(_ value: JSONValue) -> String {
        if let text = value.string { return text }
        var json = JSONWriter()
        json.value(value)
        return String(decoding: json.bytes, as: UTF8.self)
    }
}

/// Errors that every Varlink service has.
extension VarlinkError {
    private static let service = "org.varlink.service."

    package static func interfaceNotFound(_ interface: String) -> VarlinkError {
        VarlinkError(service + "InterfaceNotFound", ["interface": .string(interface)])
    }

    package static func methodNotFound(_ method: String) -> VarlinkError {
        VarlinkError(service + "MethodNotFound", ["method": .string(method)])
    }

    package static func methodNotImplemented(_ method: String) -> VarlinkError {
        VarlinkError(service + "MethodNotImplemented", ["method": .string(method)])
    }

    package static func invalidParameter(_ parameter: String) -> VarlinkError {
        VarlinkError(service + "InvalidParameter", ["parameter": .string(parameter)])
    }

    /// The method has many replies, and the call did not ask for more than one.
    package static let expectedMore = VarlinkError(service + "ExpectedMore")
}
