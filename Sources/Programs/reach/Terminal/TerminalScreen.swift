internal import Glibc
internal import ReachTerminal

/// The whole terminal, which is redrawn until it is restored.
final class TerminalScreen {
    private var saved: termios?
    /// What the terminal shows; `nil` if that is not known.
    private var shown: [String]?
    private var isEntered = false

    init() { enter() }

    /// Switches to the terminal's other screen, and reads keys without echo as they are pressed.
    func enter() {
        guard !isEntered else { return }
        isEntered = true
        shown = nil
        var settings = termios()
        if tcgetattr(STDIN_FILENO, &settings) == 0 {
            saved = settings
            settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
            tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        }
        // The other screen (xterm's 1049), no cursor, and no wrapping behind the last column.
        StandardOutput.write("\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l")
    }

    /// Whether a terminal understands what ``enter()`` and ``draw(_:)`` write.
    static var isCapable: Bool {
        StandardOutput.isTerminal && getenv("TERM").map { strcmp($0, "dumb") != 0 && $0.pointee != 0 } ?? false
    }

    /// Writes the lines that differ from those shown.
    func draw(_ lines: [String]) {
        guard isEntered, lines != shown else { return }
        StandardOutput.write(Self.output(lines, over: shown))
        shown = lines
    }

    /// What has a terminal show these lines. Each is erased before it is written: behind one that is as wide as the
    /// terminal the cursor is on its last column, which would be erased.
    static func output(_ lines: [String], over shown: [String]?) -> String {
        guard let shown else {
            // Overwrites the screen; clearing all of it first would flicker.
            let last = lines.count - 1
            return "\u{1b}[H"
                + lines.enumerated().map { ($0.offset == last ? "\u{1b}[J" : "\u{1b}[K") + $0.element }
                .joined(separator: "\r\n")
        }
        var output = ""
        for (row, line) in lines.enumerated() where row >= shown.count || shown[row] != line {
            output += "\u{1b}[\(row + 1);1H\u{1b}[K" + line
        }
        if lines.count < shown.count { output += "\u{1b}[\(lines.count + 1);1H\u{1b}[J" }
        return output
    }

    /// Draws everything again at the next call of ``draw(_:)``: the terminal has another size.
    func forget() { shown = nil }

    /// Restores the terminal. Call it before the program ends or is stopped.
    func leave() {
        guard isEntered else { return }
        isEntered = false
        StandardOutput.write("\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l")
        guard var settings = saved else { return }
        saved = nil
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }
}
