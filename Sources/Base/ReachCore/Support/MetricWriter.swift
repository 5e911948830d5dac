/// Writes Prometheus's text format, version 0.0.4 (prometheus.io, "Exposition formats").
package struct MetricWriter {
    package enum Kind: String, Sendable {
        case gauge
        case counter
        case histogram
        case summary
    }

    package private(set) var bytes: [UInt8] = []
    private var family: StaticString = ""

    package init() {}

    /// Begins a family of metrics. All samples up to the next family belong to it.
    package mutating func family(_ name: StaticString, _ kind: Kind, _ help: StaticString) {
        family = name
        append("# HELP ")
        append(name)
        append(" ")
        append(help)
        append("\n# TYPE ")
        append(name)
        append(" ")
        bytes += kind.rawValue.utf8
        append("\n")
    }

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
