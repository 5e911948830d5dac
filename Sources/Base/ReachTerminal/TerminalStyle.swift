internal import Glibc
internal import ReachCore

/// Colours for a terminal, unless NO_COLOR disables them (no-color.org).
package struct TerminalStyle {
    package enum Colour: String {
        case green = "32"
        case red = "31"
        case yellow = "33"
        /// Faint, whatever the ground is: bright black is the ground of some dark themes.
        case grey = "2"
        case bold = "1"
    }

    package let hasColour: Bool

    /// Whether the locale uses UTF-8, according to the environment.
    package static var isUnicode: Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { (name: String) -> String? in
            getenv(name).map { String(cString: $0) }
        }
        .first { !$0.isEmpty }
        return locale.map { $0.hasUTF8Suffix("UTF-8") || $0.hasUTF8Suffix("utf8") } ?? false
    }

    package static let plain = TerminalStyle(hasColour: false)

    /// The style of standard output.
    package static var current: TerminalStyle {
        let isDumb = getenv("TERM").map { strcmp($0, "dumb") == 0 } ?? true
        return TerminalStyle(hasColour: StandardOutput.isTerminal && getenv("NO_COLOR") == nil && !isDumb)
    }

    package func paint(_ text: String, _ colour: Colour) -> String {
        hasColour ? "\u{1b}[\(colour.rawValue)m\(text)\u{1b}[0m" : text
    }
}
