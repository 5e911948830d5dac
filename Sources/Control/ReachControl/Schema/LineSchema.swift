package import ReachCore

/// The JSON Schema (draft 2020-12) of the lines that the programs print, made from the definitions of the interfaces.
///
/// A key of a type with `?` may be null or missing, as in Varlink. Other keys and words are allowed, since later
/// versions may add them: the known words are examples.
package struct LineSchema {
    private let definitions: [VarlinkDefinition]

    package init() {
        definitions = [Self.lines, MonitorInterface.definition, QueueInterface.definition, Self.fleet].map(
            VarlinkDefinition.init)
    }

    /// The text of lines.varlink, which SwiftPM embeds in the code.
    static let lines = String(decoding: PackageResources.lines_varlink, as: UTF8.self)
    /// The text of fleet.varlink.
    static let fleet = String(decoding: PackageResources.fleet_varlink, as: UTF8.self)

    /// The schema of a command's lines; without a command, of all lines.
    package func write(_ command: LineCommand?, to json: inout JSONWriter) {
        let lines = command?.lines ?? LineCommand.allCases.flatMap(\.lines)
        json.object { json in
            json.field("$schema", "https://json-schema.org/draft/2020-12/schema")
            json.field("$id", "https://example.org/reach/reach\(command.map { "-" + $0.rawValue } ?? "").schema.json")
            json.field(
                "title", command.map { "A line of 'reach \($0.rawValue)', version 1" } ?? "A line of reach, version 1")
            json.field(
                "description", "Later versions may add keys, words and types. Ignore those that you do not know.")
            json.field(
                "anyOf",
                array: { json in
                    var seen: Set<[String]> = []
                    for line in lines where seen.insert([line.type, line.envelope ?? ""]).inserted {
                        reference(line, to: &json)
                    }
                })
            json.field(
                "$defs",
                object: { json in
                    for type in reached(by: lines).sorted() {
                        json.key(named: type)
                        define(type, in: &json)
                    }
                })
        }
    }

    /// The names of the keys of the object at a path of keys in `reach status --json`; `nil` where there is none.
    package func statusKeys(below path: [String]) -> [String]? {
        var type = fullName("TargetStatus", for: nil)
        for key in path {
            guard let field = structure(type)?.fields.first(where: { $0.name == key }),
                case .named(let named) = field.type
            else { return nil }
            type = fullName(named, for: type)
        }
        return structure(type)?.fields.map(\.name)
    }

    private func reference(_ line: LineCommand.Line, to json: inout JSONWriter) {
        let type = fullName(line.type, for: nil)
        json.object { json in
            guard let envelope = line.envelope else { return json.field("$ref", Self.place(type)) }
            json.objects("allOf", [fullName(envelope, for: nil), type]) { $0.field("$ref", Self.place($1)) }
        }
    }

    private func define(_ type: String, in json: inout JSONWriter) {
        guard let structure = structure(type), let last = type.split(scalar: ".").last else { return }
        json.object { json in
            if !structure.comment.isEmpty { json.field("description", structure.comment) }
            json.field("type", "object")
            json.field(
                "properties",
                object: { json in
                    for field in structure.fields {
                        json.key(named: field.name)
                        json.object { self.field(field, of: type, to: &$0) }
                    }
                })
            let words = LineCommand.words[type] ?? LineCommand.words[String(last)]
            precondition(structure.fields.contains { $0.name == "type" } == (words != nil), "\(type) lacks its word")
            json.field("required", structure.fields.filter { !$0.isOptional }.map(\.name))
        }
    }

    private func field(_ field: VarlinkDefinition.Field, of type: String, to json: inout JSONWriter) {
        if !field.comment.isEmpty { json.field("description", field.comment) }
        let last = type.split(scalar: ".").last.map(String.init) ?? type
        if field.name == "v" { return json.constant(1) }
        if field.name == "type" {
            let words = LineCommand.words[type] ?? LineCommand.words[last] ?? []
            return words.count == 1 ? json.field("const", words[0]) : json.field("enum", words)
        }
        guard field.isOptional else { return kind(field.type, field.name, of: type, to: &json) }
        if case .named = field.type {
            json.field(
                "anyOf",
                array: { json in
                    json.object { kind(field.type, field.name, of: type, to: &$0) }
                    json.object { $0.field("type", "null") }
                })
        } else {
            kind(field.type, field.name, of: type, isOptional: true, to: &json)
        }
    }

    private func kind(
        _ kind: VarlinkDefinition.Kind, _ name: String, of type: String, isOptional: Bool = false,
        to json: inout JSONWriter
    ) {
        func simple(_ word: String) {
            if isOptional { json.field("type", [word, "null"]) } else { json.field("type", word) }
        }
        switch kind {
        case .bool: simple("boolean")
        case .int: simple("integer")
        case .float: simple("number")
        case .string:
            simple("string")
            if LineWords.times.contains(name) { json.field("format", "date-time") }
            if let words = LineWords.words(of: name, in: type) { json.field("examples", words) }
        case .object: simple("object")
        case .any: break
        case .map(let element):
            simple("object")
            json.field("additionalProperties", object: { self.kind(element, name, of: type, to: &$0) })
        case .array(let element):
            simple("array")
            json.field("items", object: { self.kind(element, name, of: type, to: &$0) })
        case .named(let named): json.field("$ref", Self.place(fullName(named, for: type)))
        case .fields(let names, let kinds):
            simple("object")
            json.field(
                "properties",
                object: { json in
                    for (name, kind) in zip(names, kinds) {
                        json.key(named: name)
                        json.object { self.kind(kind, name, of: type, to: &$0) }
                    }
                })
            json.field("required", names)
        }
    }

    private static func place(_ name: String) -> String { "#/$defs/" + name }

    /// A type's name with that of its interface: of the type that uses it if both have it there, else of the first.
    private func fullName(_ name: String, for user: String?) -> String {
        if name.unicodeScalars.contains(".") { return name }
        let named = definitions.first { user?.hasUTF8Prefix($0.name + ".") ?? false && $0.types[name] != nil }
        guard let definition = named ?? definitions.first(where: { $0.types[name] != nil }) else {
            preconditionFailure("no definition has the type \(name)")
        }
        return definition.name + "." + name
    }

    private func structure(_ fullName: String) -> VarlinkDefinition.Structure? {
        for definition in definitions {
            if let name = fullName.after(definition.name + ".") { return definition.types[String(name)] }
        }
        return nil
    }

    private func reached(by lines: [LineCommand.Line]) -> Set<String> {
        var open = lines.flatMap { [$0.type] + ($0.envelope.map { [$0] } ?? []) }.map { fullName($0, for: nil) }
        var reached: Set<String> = []
        while let type = open.popLast() {
            guard reached.insert(type).inserted else { continue }
            for field in structure(type)?.fields ?? [] {
                if let name = field.type.named { open.append(fullName(name, for: type)) }
            }
        }
        return reached
    }
}

extension JSONWriter {
    fileprivate mutating func constant(_ number: Int64) { field("const", number) }
}
