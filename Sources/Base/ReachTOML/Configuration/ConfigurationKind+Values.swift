package import ReachCore

extension ConfigurationKind where Value: RawRepresentable & CaseIterable & Sendable, Value.RawValue == String {
    /// One of the words of an enumeration.
    package static var word: Self {
        let words = Value.allCases.map(\.rawValue)
        let values = Dictionary(uniqueKeysWithValues: zip(words, Value.allCases))
        return Self(
            "one of " + words.map { "\"\($0)\"" }.joined(separator: ", "), write: { TOMLLiteral.text($0.rawValue) }
        ) { value in
            guard let text = value.text else { return .otherType }
            return Reading(values[text], else: "\"\(text)\" is not a known word")
        }
    }
}

extension ConfigurationKind<Bool> {
    package static var flag: Self {
        Self("true or false", write: { "\($0)" }) { value in
            guard case .boolean(let flag) = value else { return .otherType }
            return .value(flag)
        }
    }
}

extension ConfigurationKind where Value: FixedWidthInteger & Sendable {
    package static func number(_ range: ClosedRange<Value>) -> Self {
        Self("a whole number from \(range.lowerBound) to \(range.upperBound)", write: { "\($0)" }) { value in
            guard case .integer(let number) = value else { return .otherType }
            return Reading(Value(exactly: number).flatMap { range.contains($0) ? $0 : nil }, else: "it is \(number)")
        }
    }
}

extension ConfigurationKind<Int64?> {
    /// A limit that 0 leaves out.
    package static func numberOrNone(_ range: ClosedRange<Int64>) -> Self {
        let bounds = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        return Self(range.contains(0) ? bounds : "0, or " + bounds, write: { "\($0 ?? 0)" }) { value in
            guard case .integer(let number) = value else { return .otherType }
            guard number != 0 else { return .value(nil) }
            return Reading(range.contains(number) ? number : nil, else: "it is \(number)")
        }
    }
}

extension ConfigurationKind<UInt32> {
    /// A firewall mark.
    package static var mark: Self {
        Self("a firewall mark from 0 to 0xffffffff", write: { "\($0)" }) { value in
            guard case .integer(let number) = value else { return .otherType }
            return Reading(UInt32(exactly: number), else: "it is \(number)")
        }
    }
}

extension ConfigurationKind<Duration> {
    package static func duration(from shortest: Duration = .zero, upTo longest: Duration) -> Self {
        let bounds = "from \(DurationText.describe(shortest)) to \(DurationText.describe(longest))"
        return Self(
            "a duration in quotes, \(bounds), such as \"500ms\", \"10s\" or \"1m30s\"", write: TOMLLiteral.duration
        ) { value in
            guard let text = value.text else { return .otherType }
            // A bare number is seconds on the command line; in a file, numbers name their unit.
            guard let duration = DurationText.parse(text), text.unicodeScalars.last?.isLetter == true else {
                return .wrong("\"\(text)\" is not a duration with a unit (ms, s, m, h, d)")
            }
            return Reading(duration >= shortest && duration <= longest ? duration : nil, else: "it is \"\(text)\"")
        }
    }
}

extension ConfigurationKind<Duration?> {
    /// A limit that zero leaves out.
    package static func durationOrNone(upTo longest: Duration) -> Self {
        let duration = ConfigurationKind<Duration>.duration(upTo: longest)
        return Self(duration.expected, write: { duration.write($0 ?? .zero) }) {
            node throws(ConfigurationValidationError) in
            let value = try duration.read(node)
            return value == .zero ? nil : value
        }
    }
}

extension Duration {
    package static var year: Duration { .seconds(365 * 86_400) }
}

extension ConfigurationKind<IPAddress> {
    package static var address: ConfigurationKind<IPAddress> {
        Self(
            "an address in quotes, such as \"192.0.2.1\" or \"2001:db8::1\"",
            write: { TOMLLiteral.text($0.description) }
        ) { value in
            guard let text = value.text else { return .otherType }
            return Reading(IPAddress(text), else: "\"\(text)\" is not an address")
        }
    }
}

extension ConfigurationKind<Target> {
    package static var target: ConfigurationKind<Target> {
        Self(
            "a target in quotes: \"internet\", a host name, an address, a prefix, a URL, or \"interface:NAME\"",
            write: { TOMLLiteral.text($0.description) }
        ) {
            guard let text = $0.text else { return .otherType }
            do throws(TargetError) {
                return .value(try Target(text))
            } catch {
                return .wrong(error.description)
            }
        }
    }
}

extension ConfigurationKind<Glob> {
    package static var pattern: ConfigurationKind<Glob> {
        // ALTIFNAMSIZ: the longest name an interface can have.
        Self(
            "an interface name of 1 to 127 bytes in quotes, in which * and ? match others, such as \"wwan*\"",
            write: { TOMLLiteral.text($0.pattern) }
        ) {
            guard let text = $0.text else { return .otherType }
            return Reading(
                (1...127).contains(text.utf8.count) ? Glob(text) : nil, else: "it has \(text.utf8.count) bytes")
        }
    }
}

extension ConfigurationKind<String?> {
    package static func path(longest: Int) -> Self {
        Self("an absolute path in quotes of at most \(longest) bytes", write: { $0.map(TOMLLiteral.text) }) { value in
            guard let text = value.text else { return .otherType }
            guard text.utf8.count <= longest else { return .wrong("it has \(text.utf8.count) bytes") }
            guard !text.utf8.contains(0) else { return .wrong("it has a NUL byte") }
            return text.hasUTF8Prefix("/") ? .value(text) : .wrong("\"\(text)\" is not absolute")
        }
    }

    package static var group: Self {
        Self("the name of a group in quotes, such as \"netdev\"", write: { $0.map(TOMLLiteral.text) }) { value in
            guard let text = value.text else { return .otherType }
            let isName = (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x3a }
            return isName ? .value(text) : .wrong("\"\(text)\" cannot be the name of a group")
        }
    }
}
