package import ReachCore

/// A fault in a frame that makes it no message. Close the connection: its further frames cannot be trusted.
package enum VarlinkFault: Error, Hashable, Sendable, CustomStringConvertible {
    case notJSON(JSONError)
    case notObject
    /// A member is missing, or has the wrong type.
    case member(String)

    package var description: String {
        switch self {
        case .notJSON(let error): "not JSON: \(error)"
        case .notObject: "not a JSON object"
        case .member(let name): "'\(name)' is missing or has the wrong type"
        }
    }
}

/// A method call.
package struct VarlinkCall: Hashable, Sendable {
    /// The method's name, including the interface: `org.varlink.service.GetInfo`.
    package var method: String
    package var parameters: [String: JSONValue] = [:]
    /// Whether the caller accepts any number of replies.
    package var wantsMore = false
    /// Whether the caller accepts no reply.
    package var isOneWay = false
    /// Whether the caller wants to switch to another protocol.
    package var wantsUpgrade = false

    /// The longest name of a method in bytes, with its interface.
    package static let longestMethod = 256
    /// The longest key of an object in a call, and the most values: a call with 1024 headers has 3,100.
    package static let limits = JSONReader.Limits(keyBytes: 256, values: 16_384)

    package init(_ method: String, _ parameters: [String: JSONValue] = [:], wantsMore: Bool = false) {
        self.method = method
        self.parameters = parameters
        self.wantsMore = wantsMore
    }

    package init(reading frame: [UInt8]) throws(VarlinkFault) {
        let members = try Message(frame, Self.limits)
        guard let method = try members.value("method", \.string), method.utf8.count <= Self.longestMethod else {
            throw .member("method")
        }
        self.method = method
        parameters = try members.value("parameters", \.object) ?? [:]
        wantsMore = try members.value("more", \.bool) ?? false
        isOneWay = try members.value("oneway", \.bool) ?? false
        wantsUpgrade = try members.value("upgrade", \.bool) ?? false
    }

    /// The encoded call, including the final NUL.
    package var frame: [UInt8] {
        var members: [String: JSONValue] = ["method": .string(method), "parameters": .object(parameters)]
        if wantsMore { members["more"] = .bool(true) }
        if isOneWay { members["oneway"] = .bool(true) }
        if wantsUpgrade { members["upgrade"] = .bool(true) }
        var json = JSONWriter()
        json.value(.object(members))
        json.end(with: 0)
        return json.bytes
    }

    /// The names of the interface and of the method in it; `nil` if there is no dot.
    package var names: (interface: Substring, method: Substring)? {
        guard let dot = method.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        return (method[..<dot], method[method.utf8.index(after: dot)...])
    }
}

/// A reply to a call.
package struct VarlinkReply: Hashable, Sendable {
    package var parameters: [String: JSONValue] = [:]
    /// Whether more replies follow.
    package var continues = false
    package var error: VarlinkError?

    package init(reading frame: [UInt8]) throws(VarlinkFault) {
        let members = try Message(frame, JSONReader.Limits())
        parameters = try members.value("parameters", \.object) ?? [:]
        continues = try members.value("continues", \.bool) ?? false
        if let name = try members.value("error", \.string) { error = VarlinkError(name, parameters) }
    }

    /// Encodes a reply whose parameters `body` writes, including the final NUL.
    package static func frame(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var json = JSONWriter()
        json.object { $0.field("parameters", object: body) }
        json.end(with: 0)
        return json.bytes
    }

    package static func frame(of error: VarlinkError) -> [UInt8] {
        var json = JSONWriter()
        json.object {
            $0.field("error", error.name)
            $0.key("parameters")
            $0.value(.object(error.parameters))
        }
        json.end(with: 0)
        return json.bytes
    }
}

private struct Message {
    private let members: JSONValue

    init(_ frame: [UInt8], _ limits: JSONReader.Limits) throws(VarlinkFault) {
        do throws(JSONError) { members = try JSONReader.read(frame, limits: limits) } catch { throw .notJSON(error) }
        guard members.object != nil else { throw .notObject }
    }

    /// A member that may be missing or null, but may not have another type.
    func value<Value>(_ name: String, _ type: (JSONValue) -> Value?) throws(VarlinkFault) -> Value? {
        guard let member = members[name] else { return nil }
        guard let value = type(member) else { throw .member(name) }
        return value
    }
}
