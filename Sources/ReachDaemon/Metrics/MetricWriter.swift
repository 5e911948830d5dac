/// Writes Prometheus's text format, version 0.0.4 (prometheus.io, "Exposition formats").
struct MetricWriter {
    enum Kind: String {
        case gauge
        case counter
        case histogram
        case summary
    }

    typealias Label = (name: StaticString, value: String)

    private(set) var bytes: [UInt8] = []
    private var family: StaticString = ""

    /// Begins a family of metrics: every sample up to the next belongs to it.
    mutating func family(_ name: StaticString, _ kind: Kind, _ help: StaticString) {
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

    /// - Parameter suffix: Of the parts of histograms and summaries: `_sum`, `_count`, `_bucket`.
    mutating func sample(_ labels: [Label], _ value: Double, suffix: StaticString = "") {
        start(labels, suffix)
        number(value)
        append("\n")
    }

    mutating func sample(_ labels: [Label], _ value: UInt64, suffix: StaticString = "") {
        start(labels, suffix)
        bytes += String(value).utf8
        append("\n")
    }

    /// One sample for each word, which is 1 for the one that holds.
    mutating func states(_ labels: [Label], _ name: StaticString, _ words: [String], _ current: String?) {
        for word in words { sample(labels + [(name, word)], word == current ? 1 as UInt64 : 0) }
    }

    private mutating func start(_ labels: [Label], _ suffix: StaticString) {
        append(family)
        append(suffix)
        if !labels.isEmpty {
            append("{")
            for (place, label) in labels.enumerated() {
                if place > 0 { append(",") }
                append(label.name)
                append("=\"")
                escape(label.value)
                append("\"")
            }
            append("}")
        }
        append(" ")
    }

    private mutating func escape(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): append("\\\\")
            case UInt8(ascii: "\""): append("\\\"")
            case UInt8(ascii: "\n"): append("\\n")
            default: bytes.append(byte)
            }
        }
    }

    /// What Go's ParseFloat reads.
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
