internal import ReachCore
internal import ReachQueue
internal import ReachTOML

extension ConfigurationKind where Value: RawRepresentable & CaseIterable & Sendable, Value.RawValue == String {
    /// One of the words of an enumeration.
    static var word: Self {
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
    static var flag: Self {
        Self("true or false", write: { "\($0)" }) { value in
            guard case .boolean(let flag) = value else { return .otherType }
            return .value(flag)
        }
    }
}

extension ConfigurationKind<Int> {
    static func number(_ range: ClosedRange<Int>) -> Self {
        Self("a whole number from \(range.lowerBound) to \(range.upperBound)", write: { "\($0)" }) { value in
            guard case .integer(let number) = value else { return .otherType }
            return Reading(Int(exactly: number).flatMap { range.contains($0) ? $0 : nil }, else: "it is \(number)")
        }
    }
}

extension ConfigurationKind<Int> {
    /// A limit that 0 leaves out.
    static func numberOrZero(_ range: ClosedRange<Int>) -> Self {
        Self("0, or a whole number from \(range.lowerBound) to \(range.upperBound)", write: { "\($0)" }) { value in
            guard case .integer(let number) = value else { return .otherType }
            return Reading(
                Int(exactly: number).flatMap { $0 == 0 || range.contains($0) ? $0 : nil }, else: "it is \(number)")
        }
    }
}

extension ConfigurationKind<UInt32> {
    /// A firewall mark.
    static var mark: Self {
        Self("a firewall mark from 0 to 0xffffffff", write: { "\($0)" }) { value in
            guard case .integer(let number) = value else { return .otherType }
            return Reading(UInt32(exactly: number), else: "it is \(number)")
        }
    }
}

extension ConfigurationKind<Duration> {
    static func duration(from shortest: Duration = .zero, upTo longest: Duration) -> Self {
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

extension ConfigurationKind<IPAddress> {
    static var address: Self {
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
    static var target: Self {
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
    static var pattern: Self {
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
    static func path(longest: Int) -> Self {
        Self("an absolute path in quotes of at most \(longest) bytes", write: { $0.map(TOMLLiteral.text) }) { value in
            guard let text = value.text else { return .otherType }
            guard text.utf8.count <= longest else { return .wrong("it has \(text.utf8.count) bytes") }
            guard !text.utf8.contains(0) else { return .wrong("it has a NUL byte") }
            return text.hasUTF8Prefix("/") ? .value(text) : .wrong("\"\(text)\" is not absolute")
        }
    }

    static var group: Self {
        Self("the name of a group in quotes, such as \"netdev\"", write: { $0.map(TOMLLiteral.text) }) { value in
            guard let text = value.text else { return .otherType }
            let isName = (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x3a }
            return isName ? .value(text) : .wrong("\"\(text)\" cannot be the name of a group")
        }
    }
}

extension ConfigurationKind<MeteredBudget?> {
    static var meteredBudget: Self {
        Self(
            "bytes with a unit (B, KiB, MiB, GiB, TiB) a day, week or month in quotes, such as \"200 MiB/month\"",
            write: { $0.map { TOMLLiteral.text($0.description) } }
        ) { value in
            guard let text = value.text else { return .otherType }
            guard let budget = MeteredBudget(text) else { return .wrong("\"\(text)\" is no such amount") }
            return .value(budget)
        }
    }
}
