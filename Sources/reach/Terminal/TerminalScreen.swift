internal import Glibc
internal import ReachTerminal

/// The whole terminal, which is redrawn until it is restored.
final class TerminalScreen {
    private var saved: termios?

    /// Switches to the terminal's other screen, and reads keys without echo as they are pressed.
    init() {
        var settings = termios()
        if tcgetattr(STDIN_FILENO, &settings) == 0 {
            saved = settings
            settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
            tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        }
        // The other screen (xterm's 1049), and no cursor.
        StandardOutput.write("\u{1b}[?1049h\u{1b}[?25l")
    }

    /// The terminal's height in rows.
    static var height: Int? {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0 else { return nil }
        return Int(size.ws_row)
    }

    func draw(_ lines: [String]) {
        // Overwrites the screen; clearing it first would flicker.
        StandardOutput.write("\u{1b}[H" + lines.map { $0 + "\u{1b}[K" }.joined(separator: "\r\n") + "\u{1b}[J")
    }

    /// Restores the terminal. Call it before the program ends.
    func leave() {
        StandardOutput.write("\u{1b}[?25h\u{1b}[?1049l")
        guard var settings = saved else { return }
        saved = nil
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }
}
