internal import ReachCore
package import ReachQueue

/// A specification as the parameters of `io.reach.Queue.Add`.
extension RequestSpecification {
    /// One parameter: its name, and how it is read and written.
    private struct Parameter: Sendable {
        let name: String
        let read: @Sendable (inout RequestSpecification, JSONValue) throws(ParameterFault) -> Void
        /// Returns `nil` for what the reader assumes without the parameter.
        let write: @Sendable (RequestSpecification) -> JSONValue?
    }

    private enum ParameterFault: Error {
        /// The JSON has another type.
        case type
        case value(RequestValidationError)
    }

    /// Besides `url`, which comes first. A later one may rely on what an earlier one has set.
    private static let parameters: [Parameter] = [
        text("method", { $0.method = $1 }, { $0.method }),
        Parameter(
            name: "headers",
            read: { (request, json) throws(ParameterFault) in
                request.headers = try elements(json) { json in
                    guard let name = json["name"]?.string, let value = json["value"]?.string else { return nil }
                    return HeaderField(name, value)
                }
            },
            write: { request in
                let fields = request.headers.map { field in
                    JSONValue.object(["name": .string(field.name), "value": .string(field.value)])
                }
                return fields.isEmpty ? nil : .array(fields)
            }),
        text(
            "body",
            { (request, text) throws(RequestValidationError) in
                guard let bytes = Base64.decode(Array(text.utf8)) else {
                    throw RequestValidationError(.body, "it is not base64")
                }
                request.body = .inline(bytes)
            },
            { if case .inline(let bytes) = $0.body { Base64.encode(bytes) } else { nil } }),
        Parameter(
            name: "upload",
            read: { (request, json) throws(ParameterFault) in
                guard let name = json.string, request.body == .none else { throw .type }
                request.body = .spooled(name: name, bytes: 0)
            },
            write: { if case .spooled(let name, _) = $0.body { .string(name) } else { nil } }),
        text(
            "when",
            { (request, text) throws(RequestValidationError) in
                request.condition = try RequestSpecification.condition(text)
            },
            { $0.condition == .any ? nil : $0.condition.description }),
        text(
            "priority",
            { (request, text) throws(RequestValidationError) in request.priority = try RequestPriority(text) },
            { $0.priority == .normal ? nil : "\($0.priority)" }),
        number(
            "expires_ms", { $0.timeToLive = .milliseconds($1) }, { $0.timeToLive.map { $0.nanoseconds / 1_000_000 } }),
        text("idempotency_key", { $0.idempotency = .key($1) }, { $0.idempotency.key }),
        text("order", { $0.orderKey = $1 }, { $0.orderKey }),
        flag("depends", \.dependsOnPrevious),
        text("key", { $0.uniqueness = .unique(name: $1, mode: .keep) }, { $0.uniqueness.key }),
        text(
            "mode",
            { (request, text) throws(RequestValidationError) in
                request.uniqueness = try RequestUniqueness(key: request.uniqueness.key, mode: text)
            },
            { $0.uniqueness.mode }),
        number("max_attempts", { $0.maximumAttempts = Int($1) }, { $0.maximumAttempts.map { Int64($0) } }),
        flag("strict", \.isStrict), flag("location", \.followsRedirects), flag("compressed", \.isCompressed),
        text(
            "upload_protocol",
            { (request, text) throws(RequestValidationError) in request.uploadProtocol = try UploadProtocol(text) },
            { $0.uploadProtocol?.rawValue }),
        text(
            "proxy",
            { (request, text) throws(RequestValidationError) in request.proxy = try RequestProxy(text) },
            { $0.proxy.text }),
        Parameter(
            name: "accept",
            read: { (request, json) throws(ParameterFault) in
                let ranges: [ClosedRange<Int>] = try elements(json) { json in
                    guard let first = json["first"]?.integer, let last = json["last"]?.integer, first <= last else {
                        return nil
                    }
                    return Int(first)...Int(last)
                }
                if !ranges.isEmpty { request.acceptedStatuses = ranges }
            },
            write: { request in
                request.acceptedStatuses == [200...299]
                    ? nil
                    : .array(
                        request.acceptedStatuses.map {
                            .object(["first": .integer(Int64($0.lowerBound)), "last": .integer(Int64($0.upperBound))])
                        })
            }),
    ]

    static let parameterNames = ["url"] + parameters.map(\.name)

    /// Without a method, a request with a body is a POST.
    ///
    /// - Throws: `InvalidParameter` for JSON of another type, `BadRequest` for a value that cannot be queued.
    init(_ values: [String: JSONValue]) throws(VarlinkError) {
        guard let url = values["url"]?.string else { throw .invalidParameter("url") }
        do throws(RequestValidationError) {
            try self.init(url: url)
        } catch {
            throw QueueServiceError(error).varlink
        }
        for parameter in Self.parameters {
            guard let value = values[parameter.name], value != .null else { continue }
            do throws(ParameterFault) {
                try parameter.read(&self, value)
            } catch {
                switch error {
                case .type: throw .invalidParameter(parameter.name)
                case .value(let error): throw QueueServiceError(error).varlink
                }
            }
        }
        if values["method"] ?? .null == .null, body != .none { method = "POST" }
    }

    /// Those whose values are not what a reader assumes anyway. A body in a file of the client's has none.
    var parameters: [String: JSONValue] {
        var values: [String: JSONValue] = ["url": .string(url)]
        for parameter in Self.parameters { values[parameter.name] = parameter.write(self) }
        return values
    }

    // MARK: - Kinds of parameters

    private static func text(
        _ name: String,
        _ read: @escaping @Sendable (inout RequestSpecification, String) throws(RequestValidationError) -> Void,
        _ write: @escaping @Sendable (RequestSpecification) -> String?
    ) -> Parameter {
        Parameter(
            name: name,
            read: { (request, json) throws(ParameterFault) in
                guard let text = json.string else { throw .type }
                do throws(RequestValidationError) { try read(&request, text) } catch { throw .value(error) }
            },
            write: { write($0).map { .string($0) } })
    }

    /// A number that is not negative.
    private static func number(
        _ name: String, _ read: @escaping @Sendable (inout RequestSpecification, Int64) -> Void,
        _ write: @escaping @Sendable (RequestSpecification) -> Int64?
    ) -> Parameter {
        Parameter(
            name: name,
            read: { (request, json) throws(ParameterFault) in
                guard let number = json.integer, number >= 0 else { throw .type }
                read(&request, number)
            },
            write: { write($0).map { .integer($0) } })
    }

    private static func flag(
        _ name: String, _ path: any WritableKeyPath<RequestSpecification, Bool> & Sendable
    ) -> Parameter {
        Parameter(
            name: name,
            read: { (request, json) throws(ParameterFault) in
                guard let flag = json.bool else { throw .type }
                request[keyPath: path] = flag
            },
            write: { $0[keyPath: path] ? .bool(true) : nil })
    }

    private static func elements<Element>(
        _ json: JSONValue, _ read: (JSONValue) -> Element?
    ) throws(ParameterFault) -> [Element] {
        guard let array = json.array else { throw .type }
        return try array.map { json throws(ParameterFault) in
            guard let element = read(json) else { throw .type }
            return element
        }
    }
}

extension QueueServiceError {
    package init(_ error: RequestValidationError) {
        self = .invalid(field: error.field.rawValue, reason: error.description)
    }
}
