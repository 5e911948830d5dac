import ReachCore
import Testing

@Suite struct MetricWriterTests {
    private func text(_ write: (inout MetricWriter) -> Void) -> String {
        var writer = MetricWriter()
        write(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func `a family has its help, its kind, and samples with labels and parts`() {
        let written = text { writer in
            writer.family("a_seconds", .histogram, "How long.")
            writer.sample([("le", "0.5")], 3 as UInt64, suffix: "_bucket")
            writer.sample([], 1.25, suffix: "_sum")
            writer.family("b", .gauge, "What.")
            writer.sample([("name", "a\"b\\c\nd"), ("other", "")], 0.0)
        }
        #expect(
            written == """
                # HELP a_seconds How long.
                # TYPE a_seconds histogram
                a_seconds_bucket{le="0.5"} 3
                a_seconds_sum 1.25
                # HELP b What.
                # TYPE b gauge
                b{name="a\\"b\\\\c\\nd",other=""} 0

                """)
    }

    @Test func `in OpenMetrics a counter's family has no _total, and the text has an end`() {
        var writer = MetricWriter(.openMetrics)
        writer.family("a_total", .counter, "How many.")
        writer.sample([], 3 as UInt64)
        writer.family("b_total", .gauge, "What.")
        writer.end()
        #expect(
            String(decoding: writer.bytes, as: UTF8.self) == """
                # HELP a How many.
                # TYPE a counter
                a_total 3
                # HELP b_total What.
                # TYPE b_total gauge
                # EOF

                """)
    }

    @Test func `labels that samples share are written before their own`() {
        let (shared, own): (MetricLabels, MetricLabels) = ([("host", "a")], [("le", "1"), ("x", "y")])
        let written = text { writer in
            for labels in [shared + own, shared + [], [] + own, [] + []] as [MetricLabels] {
                writer.sample(labels, 1 as UInt64)
            }
        }
        let lines = written.split(separator: "\n").map { String($0.drop { $0 != "{" && $0 != " " }) }
        #expect(lines == [#"{host="a",le="1",x="y"} 1"#, #"{host="a"} 1"#, #"{le="1",x="y"} 1"#, " 1"])
    }

    @Test func `of several words one has a 1, and none if the word is not known`() {
        let written = text { writer in
            writer.family("s", .gauge, "S.")
            writer.states([("target", "x")], "status", ["up", "down"], "down")
            writer.states([], "status", ["up"], nil)
        }
        #expect(
            written.hasSuffix(
                "s{target=\"x\",status=\"up\"} 0\ns{target=\"x\",status=\"down\"} 1\ns{status=\"up\"} 0\n"))
    }

    @Test(arguments: [
        (Double.nan, "NaN"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (-2.5, "-2.5"), (1e300, "1e+300"),
        (3, "3"), (-7, "-7"), (999_999_999_999_999, "999999999999999"), (1e15, "1000000000000000.0"),
    ])
    func `a number is as Go reads it`(number: Double, written: String) {
        let line = text {
            $0.family("n", .gauge, ""); $0.sample([], number)
        }
        #expect(line.hasSuffix("\nn \(written)\n"))
    }
}
