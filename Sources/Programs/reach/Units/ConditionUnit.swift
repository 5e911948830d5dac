internal import ReachCore

/// A condition that units of systemd follow: its target, and the units that are bound to it.
struct ConditionUnit: Equatable {
    /// As `systemctl show` names them.
    static let properties = [
        "Id", "ActiveState", "Wants", "BoundBy", "RequiredBy", "RequisiteOf", "WantedBy",
    ]

    /// As it was written, unescaped.
    let condition: String
    let target: String
    let isActive: Bool
    /// Units that start with the target.
    let wanted: [String]
    /// Units that end with the target, or start only while it is active.
    let bound: [String]

    /// Reads what `systemctl show` printed of one or more targets: `Name=value` lines, with an empty line between
    /// units.
    static func read(_ text: String) -> [ConditionUnit] {
        var units: [ConditionUnit] = []
        var values: [String: String] = [:]
        func end() {
            if let unit = ConditionUnit(values) { units.append(unit) }
            values = [:]
        }
        for line in text.split(scalar: "\n", omittingEmptySubsequences: false) {
            let parts = line.split(scalar: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { values[String(parts[0])] = String(parts[1]) } else { end() }
        }
        end()
        return units.sorted { $0.condition < $1.condition }
    }

    private init?(_ values: [String: String]) {
        let (prefix, suffix) = ("reach@", ".target")
        guard let name = values["Id"], name.hasUTF8Prefix(prefix), name.hasUTF8Suffix(suffix) else { return nil }
        func units(_ names: String...) -> [String] {
            let all = names.flatMap { Self.names(values[$0] ?? "") }
            return Set(all).subtracting([Self.follower(of: name)]).sorted()
        }
        target = name
        let instance = name.unicodeScalars.dropFirst(prefix.count).dropLast(suffix.count)
        condition = Self.unescaped(String(instance))
        isActive = values["ActiveState"] == "active"
        wanted = units("Wants")
        bound = units("BoundBy", "RequiredBy", "RequisiteOf", "WantedBy")
    }

    /// The units of a list. systemctl quotes those with a backslash for a shell.
    private static func names(_ list: String) -> [String] {
        let words = (try? ShellWords.commands(in: Array(list.utf8)))?.first ?? []
        return words.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The service that starts and stops the target.
    private static func follower(of target: String) -> String {
        "reach-condition@" + String(target.unicodeScalars.dropFirst("reach@".count).dropLast("target".count))
            + "service"
    }

    /// The target of a unit that follows a condition; that of a target is itself.
    static func target(of unit: String) -> String {
        let (prefix, suffix) = ("reach-condition@", ".service")
        guard unit.hasUTF8Prefix(prefix), unit.hasUTF8Suffix(suffix) else { return unit }
        return "reach@" + String(unit.unicodeScalars.dropFirst(prefix.count).dropLast(suffix.count)) + ".target"
    }

    /// The text that systemd-escape(1) made into a part of a unit's name.
    static func unescaped(_ name: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(name.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "-") {
                bytes.append(UInt8(ascii: "/"))
            } else if byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "x"),
                let value = UInt8(String(decoding: rest.dropFirst().prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
