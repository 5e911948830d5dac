internal import Glibc
internal import ReachCore
internal import ReachDesktop
internal import ReachLoop
internal import ReachTerminal

/// Opens a page in the user's browser, by xdg-open and without a shell.
enum PageOpener {
    static func open(_ page: PortalPage) {
        // The kernel collects the children.
        signal(SIGCHLD, SIG_IGN)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The browser gets the signals as if a shell had started it, and a process group of its own.
        var none = sigset_t()
        sigemptyset(&none)
        var usual = sigset_t()
        sigemptyset(&usual)
        for signal in [SIGCHLD, SIGPIPE] { sigaddset(&usual, signal) }
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &usual)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var child = pid_t()
        // The address begins with its scheme, so that it is no option.
        let number = CStrings.with(["xdg-open", page.text]) {
            posix_spawnp(&child, "xdg-open", nil, &attributes, $0, environ)
        }
        if number != 0 {
            StandardError.write("reach-desktop: xdg-open cannot be started: \(SystemError.text(number))\n")
        }
    }
}
