package import ReachCore

/// A Varlink error: a name for programs, and parameters with details.
package struct VarlinkError: Error, Hashable, Sendable, CustomStringConvertible {
    package let name: String
    package let parameters: [String: JSONValue]

    package init(_ name: String, _ parameters: [String: JSONValue] = [:]) {
        self.name = name
        self.parameters = parameters
    }

    /// The name, and the parameters in alphabetical order.
    package var description: String {
        let details = parameters.sorted { $0.key < $1.key }.map { "\($0.key): \(Self.text($0.value))" }
        return DisplayText.sanitized(([name] + details).joined(separator: ", "))
    }

    private static func text(_ value: JSONValue) -> String {
        value.string ?? String(decoding: value.encoded, as: UTF8.self)
    }
}

/// The errors of org.varlink.service.
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

    /// The method has many replies, and the call does not accept more than one.
    package static let expectedMore = VarlinkError(service + "ExpectedMore")
}
