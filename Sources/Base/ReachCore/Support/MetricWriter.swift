/// Writes Prometheus's text format, version 0.0.4 (prometheus.io, "Exposition formats"), or OpenMetrics 1.0.
package struct MetricWriter {
    package enum Format: Hashable, Sendable {
        case prometheus
        /// A counter's family has no `_total` there, and the text has an end, so that a part is not taken for all.
        case openMetrics

        /// The type of the text over HTTP.
        package var mediaType: String {
            switch self {
            case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
            case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
            }
        }
    }

    package enum Kind: String, Sendable {
        case gauge
        case counter
        case histogram
        case summary
    }

    package private(set) var bytes: [UInt8] = []
    private let format: Format
    private var family: StaticString = ""

    package init(_ format: Format = .prometheus) { self.format = format }

    /// Begins a family of metrics. All samples up to the next family belong to it.
    package mutating func family(_ name: StaticString, _ kind: Kind, _ help: StaticString) {
        family = name
        append("# HELP ")
        append(familyOf: kind, name)
        append(" ")
        append(help)
        append("\n# TYPE ")
        append(familyOf: kind, name)
        append(" ")
        bytes += kind.rawValue.utf8
        append("\n")
    }

    private mutating func append(familyOf kind: Kind, _ name: StaticString) {
        append(name)
        let suffix = "_total"
        if format == .openMetrics, kind == .counter, name.description.hasUTF8Suffix(suffix) {
            bytes.removeLast(suffix.utf8.count)
        }
    }

    /// Ends the text.
    package mutating func end() { if format == .openMetrics { append("# EOF\n") } }

    /// - Parameter suffix: The part of a histogram or summary: `_sum`, `_count`, `_bucket`.
    package mutating func sample(_ labels: MetricLabels, _ value: Double, suffix: StaticString = "") {
        start(labels, suffix)
        number(value)
        append("\n")
    }

    package mutating func sample(_ labels: MetricLabels, _ value: UInt64, suffix: StaticString = "") {
        start(labels, suffix)
        bytes += String(value).utf8
        append("\n")
    }

    /// Writes one sample for each word: 1 for the current one, 0 for the others.
    package mutating func states(_ labels: MetricLabels, _ name: StaticString, _ words: [String], _ current: String?) {
        for word in words { sample(labels + [(name, word)], word == current ? 1 as UInt64 : 0) }
    }

    private mutating func start(_ labels: MetricLabels, _ suffix: StaticString) {
        append(family)
        append(suffix)
        if !labels.bytes.isEmpty {
            append("{")
            bytes += labels.bytes
            append("}")
        }
        append(" ")
    }

    /// Writes a number as Go's ParseFloat reads it.
    private mutating func number(_ value: Double) {
        if value.isNaN { return append("NaN") }
        if value.isInfinite { return append(value < 0 ? ("-Inf" as StaticString) : "+Inf") }
        if value == value.rounded(), abs(value) < 1e15 {
            bytes += String(Int64(value)).utf8
        } else {
            bytes += value.description.utf8
        }
    }

    private mutating func append(_ text: StaticString) { text.withUTF8Buffer { bytes.append(contentsOf: $0) } }
}

/// Labels in the text format. Many samples share them, so that values are escaped only once.
package struct MetricLabels: ExpressibleByArrayLiteral {
    private(set) var bytes: [UInt8] = []

    package init(arrayLiteral labels: (StaticString, String)...) {
        for (name, value) in labels { append(name, value) }
    }

    private mutating func append(_ name: StaticString, _ value: String) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: ",")) }
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes += "=\"".utf8
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): bytes += "\\\\".utf8
            case UInt8(ascii: "\""): bytes += "\\\"".utf8
            case UInt8(ascii: "\n"): bytes += "\\n".utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    package static func + (left: MetricLabels, right: MetricLabels) -> MetricLabels {
        guard !left.bytes.isEmpty, !right.bytes.isEmpty else { return left.bytes.isEmpty ? right : left }
        var both = left
        both.bytes.append(UInt8(ascii: ","))
        both.bytes += right.bytes
        return both
    }
}
