internal import ReachCore
internal import ReachLoop
internal import ReachProbe
internal import ReachTOML

extension ConfigurationKind<ProbeTargets?> {
    static var probeTargets: Self {
        Self(
            "a URL in quotes, such as https://HOST/ or icmp://HOST",
            write: { $0.map { TOMLLiteral.text($0.description) } }
        ) { value in
            guard let text = value.text else { return .otherType }
            do throws(TargetError) {
                return .value(try ProbeTargets(text))
            } catch {
                return .wrong(error.description)
            }
        }
    }
}

extension ConfigurationKind<ProbeTargetPattern> {
    static var targetPattern: Self {
        Self(
            "a URL in quotes without a path, such as \"https://*.example.net\" or \"icmp://192.0.2.0/24\"",
            write: { TOMLLiteral.text($0.description) }
        ) { value in
            guard let text = value.text else { return .otherType }
            do throws(TargetError) {
                return .value(try ProbeTargetPattern(text))
            } catch {
                return .wrong(error.description)
            }
        }
    }
}

extension ConfigurationKind<JSONCondition> {
    static var jsonCondition: Self {
        Self(
            "a condition in quotes, such as '$.status == \"ok\"' or 'length($.list) > 0'",
            write: { TOMLLiteral.text($0.description) }
        ) { value in
            guard let text = value.text else { return .otherType }
            do throws(JSONConditionError) {
                return .value(try JSONCondition(text))
            } catch {
                return .wrong("\"\(DisplayText.excerpt(text))\": \(error)")
            }
        }
    }
}

extension ConfigurationKind<HTTPStatusSet> {
    static var statusSet: Self {
        Self(
            "HTTP status codes in quotes, such as \"2xx\", \"200-204\" or \"200,301\"",
            write: { TOMLLiteral.text($0.description) }
        ) { value in
            guard let text = value.text else { return .otherType }
            return Reading(HTTPStatusSet(text), else: "\"\(text)\" is not a list of codes, ranges and classes")
        }
    }
}

extension ConfigurationKind<HeaderField> {
    static var header: Self {
        Self(
            "a header in quotes, such as \"Content-Type: text/html\"",
            write: { TOMLLiteral.text("\($0.name): \($0.value)") }
        ) { value in
            guard let text = value.text else { return .otherType }
            return Reading(HeaderField(text), else: "\"\(text)\" is not a header")
        }
    }

    /// A header field of the request.
    static var requestHeader: Self {
        Self(
            "a header in quotes, such as \"Accept: text/html\"", write: { TOMLLiteral.text("\($0.name): \($0.value)") }
        ) { value in
            guard let text = value.text else { return .otherType }
            guard let header = HeaderField(text) else { return .wrong("\"\(text)\" is not a header") }
            if let fault = RequestFieldFault(header.name, header.value) { return .wrong(fault.description) }
            return .value(header)
        }
    }
}

extension ConfigurationKind<String> {
    /// A nonempty text.
    static func text(longest: Int) -> Self {
        Self("a text in quotes of 1 to \(longest) bytes", write: TOMLLiteral.text) { value in
            guard let text = value.text else { return .otherType }
            return Reading(1...longest ~= text.utf8.count ? text : nil, else: "it has \(text.utf8.count) bytes")
        }
    }

    static var probeName: Self {
        Self("a name in quotes of 1 to 64 letters, digits, hyphens, underscores and dots", write: TOMLLiteral.text) {
            value in
            guard let text = value.text else { return .otherType }
            let isName =
                1...64 ~= text.utf8.count
                && text.utf8.allSatisfy { $0.isLetterOrDigit || "-._".utf8.contains($0) }
            return Reading(isName ? text : nil, else: "\"\(text)\" cannot be the name of a probe")
        }
    }

    static var networkName: Self {
        Self("a name in quotes of 1 to 64 letters, digits, hyphens, underscores and dots", write: TOMLLiteral.text) {
            value in
            guard let text = value.text else { return .otherType }
            return Reading(NetworkRule.isName(text) ? text : nil, else: "\"\(text)\" cannot be the name of a network")
        }
    }

    static var interfaceName: Self {
        Self("the name of an interface in quotes, such as \"wwan0\"", write: TOMLLiteral.text) { value in
            guard let text = value.text else { return .otherType }
            return Reading(
                (try? Target("interface:" + text)) == nil ? nil : text, else: "\"\(text)\" cannot be an interface name")
        }
    }
}

extension ConfigurationKind<ListenAddress> {
    static var listenAddress: Self {
        Self(
            "an address and a port in quotes, such as \"127.0.0.1:9101\" or \"[::1]:9101\"",
            write: { TOMLLiteral.text($0.description) }
        ) { value in
            guard let text = value.text else { return .otherType }
            return Reading(ListenAddress(text), else: "\"\(text)\" is not an address with a port")
        }
    }
}
