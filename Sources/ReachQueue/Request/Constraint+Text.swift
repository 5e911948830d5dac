internal import ReachCore

extension Constraint: CustomStringConvertible {
    /// What may be written, for messages.
    package static let grammar =
        "any, a class such as wifi, wired or wwan, 'not' with a class, unmetered, validated, reachable, interface=NAME, "
        + "family=4 or family=6; several with commas between them"

    /// Reads a constraint as ``description`` writes it, and the words of `reach wait` where they mean the same:
    /// `class=NAME`, `internet`.
    ///
    /// - Throws: ``RequestValidationError``, which names the term at fault.
    package init(_ text: String) throws(RequestValidationError) {
        self.init()
        for piece in text.split(separator: ",", omittingEmptySubsequences: false) {
            let term = piece.split(separator: " ").joined(separator: " ")
            try take(term)
        }
        try checkForContradiction(text)
    }

    /// The terms in one order, so that equal constraints are written alike.
    package var description: String {
        var terms: [String] = []
        if let linkClass { terms.append(linkClass.rawValue) }
        terms += excludedClasses.map { "not " + $0.rawValue }.sorted()
        if isUnmetered { terms.append("unmetered") }
        if isValidated { terms.append("validated") }
        if isTargetReachable { terms.append("reachable") }
        if let interface { terms.append("interface=" + interface) }
        if let family { terms.append("family=\(family.rawValue)") }
        return terms.isEmpty ? "any" : terms.joined(separator: ", ")
    }

    private mutating func take(_ term: String) throws(RequestValidationError) {
        switch term {
        case "any": return
        case "unmetered": isUnmetered = true
        case "validated", "internet": isValidated = true
        case "reachable": isTargetReachable = true
        case "family=4": try setFamily(.ipv4, term)
        case "family=6": try setFamily(.ipv6, term)
        default:
            if term.hasPrefix("not "), let excluded = LinkClass(rawValue: String(term.dropFirst(4))) {
                excludedClasses.insert(excluded)
            } else if let named = LinkClass(rawValue: term.hasPrefix("class=") ? String(term.dropFirst(6)) : term) {
                try setClass(named, term)
            } else if term.hasPrefix("interface=") {
                try setInterface(String(term.dropFirst(10)), term)
            } else {
                throw Self.fault(term, "is no constraint: \(Self.grammar)")
            }
        }
    }

    private mutating func setClass(_ named: LinkClass, _ term: String) throws(RequestValidationError) {
        guard linkClass == nil || linkClass == named else {
            throw Self.fault(term, "is a second class: no path has two")
        }
        linkClass = named
    }

    private mutating func setFamily(_ named: IPAddress.Family, _ term: String) throws(RequestValidationError) {
        guard family == nil || family == named else { throw Self.fault(term, "is a second family: leave both out") }
        family = named
    }

    private mutating func setInterface(_ name: String, _ term: String) throws(RequestValidationError) {
        do throws(TargetError) {
            _ = try Target.interface(name)
        } catch {
            throw RequestValidationError(.constraint, error.description)
        }
        guard interface == nil || interface == name else { throw Self.fault(term, "is a second interface") }
        interface = name
    }

    private func checkForContradiction(_ text: String) throws(RequestValidationError) {
        if let linkClass, excludedClasses.contains(linkClass) {
            throw Self.fault(text, "both asks for a class and excludes it")
        }
    }

    private static func fault(_ text: String, _ what: String) -> RequestValidationError {
        RequestValidationError(.constraint, "'\(DisplayText.sanitized(String(text.prefix(64))))' \(what)")
    }
}
