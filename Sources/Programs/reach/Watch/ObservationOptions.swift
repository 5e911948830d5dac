internal import ArgumentParser
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachTerminal

/// The options of observation, which only a query of the kernel honours.
struct ObservationOptions: ParsableArguments {
    @Option(
        name: .customLong("anchor"),
        help: ArgumentHelp(
            "An address that stands for the Internet. May be given several times; replaces the built-in ones. Nothing "
                + "is sent to it.",
            valueName: "address"),
        transform: { try CommandLineValue.address($0) })
    var anchors: [IPAddress] = []

    @Option(
        help: ArgumentHelp("Look up paths for packets with this firewall mark.", valueName: "number"),
        transform: { try CommandLineValue.mark($0) })
    var mark: UInt32?

    @Option(
        help: ArgumentHelp(
            "Look up paths for programs in this VRF; names are resolved outside of it.", valueName: "name"),
        completion: ValueCompletion.interface)
    var vrf: String?

    @Option(
        name: .customLong("class"),
        help: ArgumentHelp(
            "Assign this class to interfaces whose name matches the pattern (* and ?). May be given several times.",
            valueName: "pattern=class"),
        completion: ValueCompletion.classRule, transform: { try CommandLineValue.classRule($0) })
    var classRules: [LinkPolicy.Rule] = []

    @Option(
        name: .customLong("metered"),
        help: ArgumentHelp(
            "Treat interfaces whose name matches the pattern as metered, or not. May be given several times.",
            valueName: "pattern=yes|no"),
        completion: ValueCompletion.meteredRule, transform: { try CommandLineValue.meteredRule($0) })
    var meteredRules: [LinkPolicy.Rule] = []

    /// The given options.
    var given: [String] {
        [
            ("--anchor", !anchors.isEmpty), ("--mark", mark != nil), ("--vrf", vrf != nil),
            ("--class", !classRules.isEmpty),
            ("--metered", !meteredRules.isEmpty),
        ].filter(\.1).map(\.0)
    }

    var engineOptions: ReachabilityEngine.Options {
        var options = ReachabilityEngine.Options()
        if !anchors.isEmpty { options.anchors = anchors }
        options.mark = mark
        options.observer.vrf = vrf
        options.observer.policy = LinkPolicy(rules: classRules + meteredRules)
        return options
    }
}

/// Parsers of values on the command line, with a sentence for each invalid value.
enum CommandLineValue {
    static func target(_ text: String) throws -> Target {
        do throws(TargetError) {
            return try Target(text)
        } catch {
            throw ValidationError(error.description)
        }
    }

    static func address(_ text: String) throws -> IPAddress {
        guard let address = IPAddress(text) else {
            throw ValidationError("'\(DisplayText.sanitized(text))' is not an IPv4 or IPv6 address")
        }
        return address
    }

    static func mark(_ text: String) throws -> UInt32 {
        let number = text.after("0x").map { UInt32($0, radix: 16) } ?? UInt32(text)
        guard let number else { throw ValidationError("'\(DisplayText.sanitized(text))' is not a firewall mark") }
        return number
    }

    static func duration(_ text: String) throws -> Duration {
        guard let duration = DurationText.parse(text) else {
            throw ValidationError("'\(DisplayText.sanitized(text))' is not a duration such as 500ms, 10s or 2m")
        }
        return duration
    }

    /// The number of a request.
    static func request(_ text: String) throws -> Int64 {
        guard let number = Int64(text), number > 0 else {
            throw ValidationError(
                "'\(DisplayText.sanitized(text))' is not the number of a request; 'reach queue list' has them")
        }
        return number
    }

    /// A point in time in the past: how long ago, or a date.
    ///
    /// - Parameter isEnd: Whether a date without a time of day means the end of that day.
    static func time(_ text: String, isEnd: Bool) throws -> Timestamp {
        guard let time = DateText.parse(text, isEnd: isEnd, now: SystemClock.now.wall, zone: .system) else {
            throw ValidationError("'\(DisplayText.sanitized(text))' is not \(DateText.forms)")
        }
        // Nothing was recorded earlier, and what is subtracted from it must fit.
        return max(time, Timestamp(nanosecondsSince1970: 0))
    }

    static func condition(_ text: String) throws -> NetworkCondition {
        do throws(NetworkConditionError) {
            return try NetworkCondition(text)
        } catch {
            throw ValidationError(error.description)
        }
    }

    static func waitTerms(_ text: String) throws -> WaitTerms {
        do throws(NetworkConditionError) {
            return try WaitTerms(text)
        } catch {
            throw ValidationError(error.description)
        }
    }

    static func template(_ text: String) throws -> StatusTemplate {
        do throws(TemplateError) {
            return try StatusTemplate(text)
        } catch {
            throw ValidationError(error.description)
        }
    }

    static func waitTarget(_ text: String) throws -> WaitTarget {
        do throws(TargetError) {
            return try WaitTarget(text)
        } catch {
            let hint = (try? WaitTerms(text)) == nil ? "" : "; did you mean '--until \(DisplayText.sanitized(text))'?"
            throw ValidationError(error.description + hint)
        }
    }

    static func classRule(_ text: String) throws -> LinkPolicy.Rule {
        let (pattern, word) = try rule(text)
        guard let linkClass = LinkClass(rawValue: word) else {
            let classes = LinkClass.allCases.map(\.rawValue).joined(separator: ", ")
            let hint = NearestWord.hint(for: word, among: LinkClass.allCases.map(\.rawValue))
            throw ValidationError("'\(DisplayText.sanitized(word))' is not a class\(hint); there are \(classes)")
        }
        return LinkPolicy.Rule(pattern: Glob(pattern), linkClass: linkClass)
    }

    static func meteredRule(_ text: String) throws -> LinkPolicy.Rule {
        let (pattern, word) = try rule(text)
        guard word == "yes" || word == "no" else {
            throw ValidationError("'\(DisplayText.sanitized(word))' is neither yes nor no")
        }
        return LinkPolicy.Rule(pattern: Glob(pattern), isMetered: word == "yes")
    }

    private static func rule(_ text: String) throws -> (pattern: String, word: String) {
        guard let equals = text.unicodeScalars.lastIndex(of: "="), equals != text.startIndex else {
            throw ValidationError("'\(DisplayText.sanitized(text))' is not of the form PATTERN=VALUE")
        }
        return (String(text[..<equals]), String(text[text.unicodeScalars.index(after: equals)...]))
    }
}
