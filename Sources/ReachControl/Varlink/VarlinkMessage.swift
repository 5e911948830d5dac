package import ReachCore

/// Why a frame is no message. The connection it came by cannot be trusted any further.
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

/// A call of a method.
package struct VarlinkCall: Hashable, Sendable {
    /// Its name with that of its interface: `org.varlink.service.GetInfo`.
    package var method: String
    package var parameters: [String: JSONValue] = [:]
    /// The caller takes any number of replies.
    package var wantsMore = false
    /// The caller takes none.
    package var isOneWay = false
    /// The caller wants to speak another protocol from then on.
    package var wantsUpgrade = false

    package init(_ method: String, _ parameters: [String: JSONValue] = [:], wantsMore: Bool = false) {
        self.method = method
        self.parameters = parameters
        self.wantsMore = wantsMore
    }

    package init(reading frame: [UInt8]) throws(VarlinkFault) {
        let members = try Message(frame)
        guard let method = try members.value("method", \.string) else { throw .member("method") }
        self.method = method
        parameters = try members.value("parameters", \.object) ?? [:]
        wantsMore = try members.value("more", \.bool) ?? false
        isOneWay = try members.value("oneway", \.bool) ?? false
        wantsUpgrade = try members.value("upgrade", \.bool) ?? false
    }

    /// With the NUL that ends it.
    package var frame: [UInt8] {
        var members: [String: JSONValue] = ["method": .string(method), "parameters": .object(parameters)]
        if wantsMore { members["more"] = .bool(true) }
        if isOneWay { members["oneway"] = .bool(true) }
        if wantsUpgrade { members["upgrade"] = .bool(true) }
        var json = JSONWriter()
        json.value(.object(members))
        return json.bytes + [0]
    }

    /// The interface and the method's name in it; `nil` where there is no dot.
    package var names: (interface: Substring, method: Substring)? {
        guard let dot = method.lastIndex(of: ".") else { return nil }
        return (method[..<dot], method[method.index(after: dot)...])
    }
}

/// An answer to a call.
package struct VarlinkReply: Hashable, Sendable {
    package var parameters: [String: JSONValue] = [:]
    /// More replies follow.
    package var continues = false
    package var error: VarlinkError?

    package init(reading frame: [UInt8]) throws(VarlinkFault) {
        let members = try Message(frame)
        parameters = try members.value("parameters", \.object) ?? [:]
        continues = try members.value("continues", \.bool) ?? false
        if let name = try members.value("error", \.string) { error = VarlinkError(name, parameters) }
    }

    /// The frame of an answer whose parameters `body` writes, with the NUL that ends it.
    package static func frame(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var json = JSONWriter()
        json.object { $0.field("parameters", object: body) }
        return json.bytes + [0]
    }

    package static func frame(of error: VarlinkError) -> [UInt8] {
        var json = JSONWriter()
        json.object {
            $0.field("error", error.name)
            $0.key("parameters")
            $0.value(.object(error.parameters))
        }
        return json.bytes + [0]
    }
}

private struct Message {
    private let members: JSONValue

    init(_ frame: [UInt8]) throws(VarlinkFault) {
        do throws(JSONError) { members = try JSONReader.read(frame) } catch { throw .notJSON(error) }
        guard members.object != nil else { throw .notObject }
    }

    /// A member that may be missing, or null, but nothing of another type.
    func value<Value>(_ name: String, _ type: KeyPath<JSONValue, Value?>) throws(VarlinkFault) -> Value? {
        guard let member = members[name] else { return nil }
        guard let value = member[keyPath: type] else { throw .member(name) }
        return value
    }
}
