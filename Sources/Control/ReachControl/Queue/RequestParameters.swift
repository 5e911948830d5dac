internal import ReachCore
package import ReachQueue

/// A specification as the parameters of `io.reach.Queue.Add`.
extension RequestSpecification {
    /// One parameter: its name, and how it is read and written.
    fileprivate struct Parameter: Sendable {
        let name: String
        let read: @Sendable (inout RequestSpecification, JSONValue) throws(ParameterFault) -> Void
        /// Returns `nil` for what the reader assumes without the parameter.
        let write: @Sendable (RequestSpecification) -> JSONValue?
    }

    fileprivate enum ParameterFault: Error {
        /// The JSON has another type.
        case type
        case value(RequestValidationError)
    }

    /// Besides `url`, which comes first: what is sent, and then the terms. A later one may rely on what an earlier one
    /// has set.
    private static let parameters: [Parameter] =
        [
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
                "proxy",
                { (request, text) throws(RequestValidationError) in request.proxy = try RequestProxy(text) },
                { $0.proxy.text }),
        ] + RequestTerm.all.compactMap(Parameter.init)

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

    fileprivate static func elements<Element>(
        _ json: JSONValue, _ read: (JSONValue) -> Element?
    ) throws(ParameterFault) -> [Element] {
        guard let array = json.array else { throw .type }
        return try array.map { json throws(ParameterFault) in
            guard let element = read(json) else { throw .type }
            return element
        }
    }
}

extension RequestSpecification.Parameter {
    /// - Returns: `nil` for a term that only sessions have.
    init?(_ term: RequestTerm) {
        guard let name = term.parameter else { return nil }
        self.init(
            name: name,
            read: { (request, json) throws(RequestSpecification.ParameterFault) in
                guard let value = try TermValue(json, term.form) else { throw .type }
                do throws(RequestValidationError) { try term.read(&request.terms, value) } catch { throw .value(error) }
            },
            write: { term.write($0.terms)?.json })
    }
}

extension TermValue {
    /// - Returns: `nil` for JSON of another type, or a number out of range.
    fileprivate init?(_ json: JSONValue, _ form: TermForm) throws(RequestSpecification.ParameterFault) {
        switch form {
        case .flag:
            guard let flag = json.bool else { return nil }
            self = .flag(flag)
        case .number(let range):
            guard let number = json.integer, range.contains(number) else { return nil }
            self = .number(number)
        case .text, .word:
            guard let text = json.string else { return nil }
            self = .text(text)
        case .ranges:
            self = .ranges(
                try RequestSpecification.elements(json) { json in
                    guard let first = json["first"]?.integer, let last = json["last"]?.integer, first <= last else {
                        return nil
                    }
                    return Int(first)...Int(last)
                })
        }
    }

    fileprivate var json: JSONValue {
        switch self {
        case .flag(let flag): .bool(flag)
        case .number(let number): .integer(number)
        case .text(let text): .string(text)
        case .ranges(let ranges):
            .array(
                ranges.map {
                    .object(["first": .integer(Int64($0.lowerBound)), "last": .integer(Int64($0.upperBound))])
                })
        }
    }
}

extension QueueServiceError {
    package init(_ error: RequestValidationError) {
        self = .invalid(field: error.field.rawValue, reason: error.description)
    }
}
