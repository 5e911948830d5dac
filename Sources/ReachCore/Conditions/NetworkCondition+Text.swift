/// Why a text is no condition: a sentence that names the word and lists the known ones.
package struct NetworkConditionError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}

extension NetworkCondition: CustomStringConvertible {
    /// The words that it knows, for messages.
    package static let grammar =
        "any, reachable, not-reachable, validated or internet, a class or class=CLASS, 'not' and a class, unmetered, "
        + "interface=NAME, network=NAME, not network=NAME, family=4, family=6, or several with commas between them, where the classes are "
        + LinkClass.allCases.map(\.rawValue).joined(separator: ", ")

    /// The terms, which a shell offers and of which a mistyped one may mean one.
    package static let words =
        [
            "any", "reachable", "not-reachable", "validated", "internet", "unmetered", "interface=", "network=",
            "not network=", "family=4", "family=6",
        ]
        + LinkClass.allCases.flatMap { [$0.rawValue, "class=" + $0.rawValue, "not " + $0.rawValue] }

    /// What people call them elsewhere. "wlan" is one letter from "wwan", and means something else.
    private static let synonyms = [
        "wlan": "wifi", "wi-fi": "wifi", "ethernet": "wired", "lan": "wired", "cellular": "wwan", "mobile": "wwan",
        "lte": "wwan", "online": "reachable", "up": "reachable", "offline": "not-reachable", "down": "not-reachable",
        "free": "unmetered",
    ]

    /// Reads terms with commas between them, as ``description`` writes them.
    ///
    /// - Throws: ``NetworkConditionError``, which names the term at fault.
    package init(_ text: String) throws(NetworkConditionError) {
        self.init()
        for piece in text.split(scalar: ",", omittingEmptySubsequences: false) {
            try add(piece.split(scalar: " ").joined(separator: " "))
        }
        if let linkClass, excludedClasses.contains(linkClass) {
            throw Self.fault(text, "both asks for a class and excludes it")
        }
        if let network, excludedNetworks.contains(network) {
            throw Self.fault(text, "both asks for a network and excludes it")
        }
        var others = self
        others.isTargetUnreachable = false
        if isTargetUnreachable, others != .any { throw Self.fault(text, "asks for a path and for none") }
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
        return terms.isEmpty ? "any" : terms.joined(separator: ", ")
    }

    private mutating func add(_ term: String) throws(NetworkConditionError) {
        switch term {
        case "any": return
        case "unmetered": isUnmetered = true
        case "validated", "internet": isValidated = true
        case "reachable": isTargetReachable = true
        case "not-reachable": isTargetUnreachable = true
        case "family=4": try set(\.family, .ipv4, term, "is a second family: leave both out")
        case "family=6": try set(\.family, .ipv6, term, "is a second family: leave both out")
        default:
            if let excluded = term.after("not ").flatMap({ LinkClass(rawValue: String($0)) }) {
                excludedClasses.insert(excluded)
            } else if let named = LinkClass(rawValue: term.after("class=").map(String.init) ?? term) {
                try set(\.linkClass, named, term, "is a second class: no path has two")
            } else if let name = term.after("network=") {
                try set(\.network, Self.network(name), term, "is a second network: no path has two")
            } else if let name = term.after("not network=") {
                excludedNetworks.insert(try Self.network(name))
            } else if let name = term.after("interface=").map(String.init) {
                do throws(TargetError) {
                    _ = try Target.interface(name)
                } catch {
                    throw NetworkConditionError(description: error.description)
                }
                try set(\.interface, name, term, "is a second interface")
            } else {
                let word = Self.synonyms[term.lowercased()] ?? NearestWord.find(term.lowercased(), among: Self.words)
                let meant = word.map { "did you mean '\($0)'? " } ?? ""
                throw Self.fault(term, "is not a condition; \(meant)there are \(Self.grammar)")
            }
        }
    }

    private static func network(_ name: Substring) throws(NetworkConditionError) -> String {
        guard NetworkRule.isName(String(name)) else {
            throw fault("network=" + name, "names no network: names have 1 to 64 letters, digits, '-', '_' and '.'")
        }
        return String(name)
    }

    private mutating func set<Value: Equatable>(
        _ path: WritableKeyPath<NetworkCondition, Value?>, _ value: Value, _ term: String, _ problem: String
    ) throws(NetworkConditionError) {
        guard self[keyPath: path] == nil || self[keyPath: path] == value else { throw Self.fault(term, problem) }
        self[keyPath: path] = value
    }

    private static func fault(_ text: String, _ problem: String) -> NetworkConditionError {
        NetworkConditionError(description: "'\(DisplayText.sanitized(String(text.prefix(64))))' \(problem)")
    }
}
