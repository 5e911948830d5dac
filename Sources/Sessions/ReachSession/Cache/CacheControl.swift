internal import ReachCore

/// The directives of a message's `Cache-Control` fields (RFC 9111, 5.2), with those that a private cache obeys.
package struct CacheControl: Equatable {
    /// The directives by their names in lower case; the first of several of a name counts.
    private var directives: [String: String?] = [:]

    /// - Parameter fields: All header fields of the message.
    package init(_ fields: [HeaderField]) {
        var isPresent = false
        for field in fields where field.isNamed("Cache-Control") {
            isPresent = true
            for item in QuotedText.split(field.value, at: ",") { add(item) }
        }
        // Of a client that knows HTTP/1.0 only (RFC 9111, 5.4).
        if !isPresent,
            fields.contains(where: { $0.isNamed("Pragma") && $0.value.lowercased().containsUTF8("no-cache") })
        {
            directives["no-cache"] = .some(nil)
        }
    }

    private mutating func add(_ item: Substring) {
        let sides = item.split(scalar: "=", maxSplits: 1)
        guard let first = sides.first else { return }
        let name = first.filterScalars { $0 != " " && $0 != "\t" }.lowercased()
        guard !name.isEmpty, directives[name] == nil else { return }
        let value = sides.count > 1 ? sides[1].filterScalars { $0 != " " && $0 != "\t" && $0 != "\"" } : nil
        directives.updateValue(value, forKey: name)
    }

    /// Whether a directive is present. One that is limited to some fields, as in `no-cache="set-cookie"`, counts for
    /// the whole message, which RFC 9111 allows.
    private func has(_ name: String) -> Bool { directives[name] != nil }

    /// The seconds of a directive; `nil` without it. A number that cannot be read is 0: the strictest.
    private func seconds(_ name: String) -> Int64? {
        guard let value = directives[name] else { return nil }
        return value.flatMap(Self.seconds) ?? 0
    }

    package var noStore: Bool { has("no-store") }
    package var noCache: Bool { has("no-cache") }
    package var mustRevalidate: Bool { has("must-revalidate") }
    package var isPublic: Bool { has("public") }
    package var onlyIfCached: Bool { has("only-if-cached") }
    package var maximumAge: Int64? { seconds("max-age") }
    package var minimumFresh: Int64? { seconds("min-fresh") }
    package var staleIfError: Int64? { seconds("stale-if-error") }

    /// How stale an answer the client accepts, in seconds; `nil` if none. Without a number it accepts any.
    package var maximumStale: Int64? {
        guard let value = directives["max-stale"] else { return nil }
        return value == nil ? .max : seconds("max-stale")
    }

    /// Reads a number of seconds (RFC 9111, 1.2.2): larger ones than 2^31 are as large.
    package static func seconds(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 48...57 ~= $0 }) else { return nil }
        return min(Int64(text) ?? .max, 1 << 31)
    }
}
