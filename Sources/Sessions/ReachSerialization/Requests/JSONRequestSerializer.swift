public import HTTPTypes
internal import ReachCore

/// Encodes parameters as JSON in the body: AFJSONRequestSerializer. Methods that encode parameters in the URL still do
/// so.
///
/// The document is compact, its keys are sorted, and "/" is not escaped. The serializer rejects parameters that are
/// neither an array nor a dictionary, and those with data, a set, or a number that is not finite. Without parameters
/// there is no body.
public struct JSONRequestSerializer: RequestSerializer {
    /// The serializer that encodes parameters in the URL, and holds the headers.
    public var base: FormRequestSerializer

    /// Creates a serializer.
    ///
    /// - Parameter headers: Headers for requests that do not set their own.
    public init(headers: HTTPFields = [:]) { base = FormRequestSerializer(headers: headers) }

    /// Adds headers, and encodes the parameters in the query or the body.
    public func serialize(
        _ request: WebRequest, parameters: ParameterValue?
    ) throws(RequestSerializationError) -> WebRequest {
        try base.serialize(request, parameters: parameters, as: "application/json", Self.document)
    }

    /// The serializer of forms.
    public var form: FormRequestSerializer { base }

    /// Encodes parameters as a JSON document.
    public static func document(_ parameters: ParameterValue) throws(RequestSerializationError) -> [UInt8] {
        switch parameters {
        case .array, .dictionary: break
        default: throw .unsupportedValue(place: "", kind: parameters.kind, format: "JSON at the top")
        }
        try check(parameters, at: "")
        var writer = JSONWriter()
        writer.parameter(parameters)
        return writer.bytes
    }

    /// Rejects what JSON cannot hold.
    private static func check(_ value: ParameterValue, at place: String) throws(RequestSerializationError) {
        switch value {
        case .null, .bool, .integer, .unsigned, .string: break
        case .double(let number) where number.isFinite: break
        case .decimal(let text) where text.isJSONNumber: break
        case .array(let elements): for element in elements { try check(element, at: place + "[]") }
        case .dictionary(let members):
            for (name, member) in members { try check(member, at: place.isEmpty ? name : "\(place)[\(name)]") }
        case .double, .decimal, .data, .set: throw .unsupportedValue(place: place, kind: value.kind, format: "JSON")
        }
    }
}

extension JSONWriter {
    /// Writes a parameter that JSON can hold, with the members of dictionaries sorted by name.
    fileprivate mutating func parameter(_ parameter: ParameterValue) {
        switch parameter {
        case .null, .data, .set: value(nil as String?)
        case .bool(let flag): value(flag)
        case .integer(let number): value(number)
        case .unsigned(let number): value(written: Array(number.description.utf8))
        case .double(let number): value(number)
        case .decimal(let text): value(written: Array(text.utf8))
        case .string(let text): value(text)
        case .array(let elements): array { for element in elements { $0.parameter(element) } }
        case .dictionary(let members):
            object {
                for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                    $0.key(named: name)
                    $0.parameter(member)
                }
            }
        }
    }
}

extension ParameterValue {
    /// The kind of value, for error messages.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer: "a whole number"
        case .unsigned: "a whole number beyond Int64"
        case .double(let number): number.isFinite ? "a number" : "a number that is not finite"
        case .decimal(let text): text.isJSONNumber ? "a decimal number" : "digits that are no number"
        case .string: "text"
        case .data: "bytes"
        case .array: "an array"
        case .set: "a set"
        case .dictionary: "a dictionary"
        }
    }
}

extension String {
    /// Whether it is a number of JSON (RFC 8259, section 6).
    fileprivate var isJSONNumber: Bool {
        var rest = utf8[...]
        func skip(_ bytes: String.UTF8View) { if let byte = rest.first, bytes.contains(byte) { rest.removeFirst() } }
        func digits() -> Int {
            let digits = rest.prefix { 48...57 ~= $0 }
            rest.removeFirst(digits.count)
            return digits.count
        }
        skip("-".utf8)
        let isZero = rest.first == UInt8(ascii: "0")
        let whole = digits()
        guard whole == 1 || whole > 1 && !isZero else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            guard digits() > 0 else { return false }
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest.removeFirst()
            skip("+-".utf8)
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty
    }
}
