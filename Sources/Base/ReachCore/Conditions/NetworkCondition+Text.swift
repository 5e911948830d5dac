/// Why a text is no condition: a sentence that names the word and lists the known ones.
package struct NetworkConditionError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}

extension NetworkCondition: CustomStringConvertible {
    /// The words that it knows, for messages.
    package static let grammar =
        "any, reachable, not-reachable, validated or internet, a class or class=CLASS, 'not' and a class, unmetered, "
        + "interface=NAME, network=NAME, not network=NAME, family=4, family=6, "
        + qualities.joined(separator: ", ") + ", or several with commas between them, where the classes are "
        + LinkClass.allCases.map(\.rawValue).joined(separator: ", ")

    /// The terms, which a shell offers and of which a mistyped one may mean one.
    package static let words =
        [
            "any", "reachable", "not-reachable", "validated", "internet", "unmetered", "interface=", "network=",
            "not network=", "family=4", "family=6",
        ]
        + qualities
        + LinkClass.allCases.flatMap { [$0.rawValue, "class=" + $0.rawValue, "not " + $0.rawValue] }

    private static let qualities = LineQuality.Word.allCases.map { "quality=" + $0.rawValue }

    /// The longest text of a condition in bytes.
    package static let longestText = 4096
    /// The most terms of a condition.
    package static let mostTerms = 64

    /// Reads terms with commas between them, as ``description`` writes them.
    ///
    /// - Throws: ``NetworkConditionError``, which names the term at fault.
    package init(_ text: String) throws(NetworkConditionError) {
        self = try Self.read(text) { _ in false } ?? .any
    }

    /// Reads a condition among other terms.
    ///
    /// - Parameter other: Called with each term, and returns whether it is the caller's, and no condition of a path.
    /// - Returns: `nil` if all terms are the caller's.
    package static func read(
        _ text: String, other: (String) throws(NetworkConditionError) -> Bool
    ) throws(NetworkConditionError) -> NetworkCondition? {
        guard text.utf8.count <= Self.longestText else { throw isTooLong(text.utf8.count) }
        let terms = text.utf8.reduce(1) { $1 == UInt8(ascii: ",") ? $0 + 1 : $0 }
        guard terms <= mostTerms else {
            throw NetworkConditionError(
                description: "a condition has at most \(mostTerms) terms, and this one has \(terms)")
        }
        let condition = try ConditionReader.read(text.utf8, other: other)
        // Written in one form it may be longer, and the next reader has the same limit.
        let length = condition?.description.utf8.count ?? 0
        guard length <= longestText else { throw isTooLong(length) }
        return condition
    }

    /// Reads a condition of any length, as earlier versions accepted and stored them.
    package init(stored text: String) throws(NetworkConditionError) {
        self = try ConditionReader.read(text.utf8) { _ in false } ?? .any
    }

    private static func isTooLong(_ length: Int) -> NetworkConditionError {
        NetworkConditionError(
            description: "a condition has at most \(longestText) bytes, and this one has \(length)")
    }

    /// The terms in one order, so that equal conditions have equal texts.
    package var description: String {
        if let unreadable { return unreadable }
        var terms: [String] = []
        if isTargetUnreachable { terms.append("not-reachable") }
        if let linkClass { terms.append(linkClass.rawValue) }
        terms += excludedClasses.map { "not " + $0.rawValue }.sorted()
        if isUnmetered { terms.append("unmetered") }
        if isValidated { terms.append("validated") }
        if isTargetReachable { terms.append("reachable") }
        if let interface { terms.append("interface=" + interface) }
        if let network { terms.append("network=" + network) }
        terms += excludedNetworks.sorted().map { "not network=" + $0 }
        if let family { terms.append("family=\(family.rawValue)") }
        if let quality { terms.append("quality=\(quality.rawValue)") }
        return terms.isEmpty ? "any" : terms.joined(separator: ", ")
    }
}
