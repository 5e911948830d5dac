import Glibc
import ReachPage
@testable import ReachTerminal
import ReachTesting
import Testing

/// The colours of pages and of terminals.
@Suite struct PaletteTests {
    /// The colours of light pages, and those that dark ones have instead.
    private static let grounds: [(name: String, colours: [String: String])] = {
        let parts = HTMLPage.palette.split(separator: "@media")
        let light = colours(in: parts[0])
        return [("light", light), ("dark", light.merging(colours(in: parts[1])) { $1 })]
    }()

    private static func colours(in text: Substring) -> [String: String] {
        text.split { $0 == ";" || $0 == "{" || $0 == "}" || $0 == "\n" }.reduce(into: [:]) { colours, rule in
            let parts = rule.split(separator: ":")
            if parts.count == 2, parts[0].hasPrefix("--"), parts[1].hasPrefix("#") {
                colours[String(parts[0].dropFirst(2))] = String(parts[1].dropFirst())
            }
        }
    }

    /// The contrast of two colours (WCAG 2.2, "contrast ratio").
    private static func contrast(_ one: String, _ other: String) -> Double {
        let lights = [one, other].map(luminance).sorted()
        return (lights[1] + 0.05) / (lights[0] + 0.05)
    }

    private static func luminance(_ colour: String) -> Double {
        let digits = colour.count == 3 ? colour.map { "\($0)\($0)" }.joined() : colour
        let parts = stride(from: 0, to: 6, by: 2).map { start -> Double in
            let value = Double(Int(digits.dropFirst(start).prefix(2), radix: 16) ?? 0) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }

    @Test func `what a strip shows has a contrast of 3 to its ground, and what is down to what is up`() throws {
        for (name, colours) in Self.grounds {
            let (up, down) = (try #require(colours["idle"]), try #require(colours["lost"]))
            for ground in ["surface", "raised"] {
                let behind = try #require(colours[ground])
                for part in ["idle", "lost", "c1", "muted"] {
                    let contrast = Self.contrast(try #require(colours[part]), behind)
                    #expect(contrast >= 3, "\(part) on \(ground), \(name): \(contrast)")
                }
            }
            #expect(Self.contrast(up, down) >= 3, "\(name): \(Self.contrast(up, down))")
        }
    }

    @Test func `texts have a contrast of 4.5 to their ground`() throws {
        for (name, colours) in Self.grounds {
            for text in ["text", "muted", "c0", "c1", "c2", "c3", "c4", "c5", "accent"] {
                let contrast = Self.contrast(try #require(colours[text]), try #require(colours["surface"]))
                #expect(contrast >= 4.5, "\(text), \(name): \(contrast)")
            }
        }
    }

    /// Bright black is the ground of Solarized Dark.
    @Test func `a terminal's colours are those of its own theme, and none is bright black`() {
        let style = TerminalStyle(hasColour: true)
        for colour in [TerminalStyle.Colour.green, .red, .yellow, .grey, .bold] {
            #expect(!style.paint("x", colour).contains("[9"), "\(colour)")
        }
    }
}
