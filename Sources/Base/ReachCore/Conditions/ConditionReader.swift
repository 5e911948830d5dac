/// Reads the terms of a condition, each byte a few times however many terms there are.
///
/// It cannot be copied, so that no term is read at the price of copying those before it.
struct ConditionReader: ~Copyable {
    private var terms = NetworkCondition()

    /// What people call them elsewhere. "wlan" is one letter from "wwan", and means something else.
    private static let synonyms = [
        "wlan": "wifi", "wi-fi": "wifi", "ethernet": "wired", "lan": "wired", "cellular": "wwan", "mobile": "wwan",
        "lte": "wwan", "online": "reachable", "up": "reachable", "offline": "not-reachable", "down": "not-reachable",
        "free": "unmetered",
    ]

    /// Reads terms with commas between them.
    ///
    /// - Throws: ``NetworkConditionError``, which names the term at fault.
    static func read<Bytes: Collection<UInt8>>(_ text: Bytes) throws(NetworkConditionError) -> NetworkCondition {
        var reader = ConditionReader()
        var rest = text[...]
        while let comma = rest.firstIndex(of: UInt8(ascii: ",")) {
            try reader.add(term(rest[..<comma]))
            rest = rest[text.index(after: comma)...]
        }
        try reader.add(term(rest))
        let terms = reader.terms
        if let linkClass = terms.linkClass, terms.excludedClasses.contains(linkClass) {
            throw fault(String(decoding: text, as: UTF8.self), "both asks for a class and excludes it")
        }
        if let network = terms.network, terms.excludedNetworks.contains(network) {
            throw fault(String(decoding: text, as: UTF8.self), "both asks for a network and excludes it")
        }
        var others = terms
        others.isTargetUnreachable = false
        if terms.isTargetUnreachable, others != .any {
            throw fault(String(decoding: text, as: UTF8.self), "asks for a path and for none")
        }
        return terms
    }

    /// The words of a term with one space between them.
    private static func term(_ bytes: some Collection<UInt8>) -> String {
        var term: [UInt8] = []
        var isAfterSpace = false
        for byte in bytes {
            if byte == UInt8(ascii: " ") {
                isAfterSpace = !term.isEmpty
            } else {
                if isAfterSpace { term.append(UInt8(ascii: " ")) }
                isAfterSpace = false
                term.append(byte)
            }
        }
        return String(decoding: term, as: UTF8.self)
    }

    private mutating func add(_ term: String) throws(NetworkConditionError) {
        switch term {
        case "any": return
        case "unmetered": terms.isUnmetered = true
        case "validated", "internet": terms.isValidated = true
        case "reachable": terms.isTargetReachable = true
        case "not-reachable": terms.isTargetUnreachable = true
        case "family=4": try set(\.family, .ipv4, term, "is a second family: leave both out")
        case "family=6": try set(\.family, .ipv6, term, "is a second family: leave both out")
        default:
            if let excluded = Self.rest(of: term, after: "not ").flatMap(LinkClass.init(rawValue:)) {
                terms.excludedClasses.insert(excluded)
            } else if let named = LinkClass(rawValue: Self.rest(of: term, after: "class=") ?? term) {
                try set(\.linkClass, named, term, "is a second class: no path has two")
            } else if let word = Self.rest(of: term, after: "quality=").flatMap(LineQuality.Word.init(rawValue:)) {
                try set(\.quality, word, term, "is a second quality: no line has two")
            } else if let name = Self.rest(of: term, after: "network=") {
                try set(\.network, Self.network(name), term, "is a second network: no path has two")
            } else if let name = Self.rest(of: term, after: "not network=") {
                terms.excludedNetworks.insert(try Self.network(name))
            } else if let name = Self.rest(of: term, after: "interface=") {
                do throws(TargetError) {
                    _ = try Target.interface(name)
                } catch {
                    throw NetworkConditionError(description: error.description)
                }
                try set(\.interface, name, term, "is a second interface")
            } else {
                let word = Self.synonyms[term.lowercased()]
                let nearest = word ?? NearestWord.find(term.lowercased(), among: NetworkCondition.words)
                let meant = nearest.map { "did you mean '\($0)'? " } ?? ""
                throw Self.fault(term, "is not a condition; \(meant)there are \(NetworkCondition.grammar)")
            }
        }
    }

    /// What follows a prefix; `nil` if the text does not begin with these bytes.
    private static func rest(of text: String, after prefix: String) -> String? {
        text.utf8.starts(with: prefix.utf8) ? String(text.utf8.dropFirst(prefix.utf8.count)) : nil
    }

    private static func network(_ name: String) throws(NetworkConditionError) -> String {
        guard NetworkRule.isName(name) else {
            throw fault("network=" + name, "names no network: names have 1 to 64 letters, digits, '-', '_' and '.'")
        }
        return name
    }

    private mutating func set<Value: Equatable>(
        _ path: WritableKeyPath<NetworkCondition, Value?>, _ value: Value, _ term: String, _ problem: String
    ) throws(NetworkConditionError) {
        guard terms[keyPath: path] == nil || terms[keyPath: path] == value else { throw Self.fault(term, problem) }
        terms[keyPath: path] = value
    }

    private static func fault(_ text: String, _ problem: String) -> NetworkConditionError {
        NetworkConditionError(description: "'\(DisplayText.excerpt(text))' \(problem)")
    }
}
