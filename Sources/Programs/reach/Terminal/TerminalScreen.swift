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
        var output = ""
        if let shown {
            for (row, line) in lines.enumerated() where row >= shown.count || shown[row] != line {
                output += "\u{1b}[\(row + 1);1H" + line + "\u{1b}[K"
            }
            if lines.count < shown.count { output += "\u{1b}[\(lines.count + 1);1H\u{1b}[J" }
        } else {
            // Overwrites the screen; clearing it first would flicker.
            output = "\u{1b}[H" + lines.map { $0 + "\u{1b}[K" }.joined(separator: "\r\n") + "\u{1b}[J"
        }
        shown = lines
        StandardOutput.write(output)
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
