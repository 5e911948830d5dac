internal import Glibc

/// Colours for people, where there is a terminal and nobody asked for none (no-color.org).
struct TerminalStyle {
    enum Colour: String {
        case green = "32"
        case red = "31"
        case yellow = "33"
        case grey = "90"
        case bold = "1"
    }

    let hasColour: Bool

    static let plain = TerminalStyle(hasColour: false)

    /// What suits standard output.
    static var current: TerminalStyle {
        let isDumb = getenv("TERM").map { strcmp($0, "dumb") == 0 } ?? true
        return TerminalStyle(hasColour: StandardOutput.isTerminal && getenv("NO_COLOR") == nil && !isDumb)
    }

    func paint(_ text: String, _ colour: Colour) -> String {
        hasColour ? "\u{1b}[\(colour.rawValue)m\(text)\u{1b}[0m" : text
    }
}
