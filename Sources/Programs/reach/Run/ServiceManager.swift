internal import Glibc
internal import ReachCore

/// systemd by systemctl(1), which knows its bus: the system's manager for root, and the user's otherwise.
enum ServiceManager {
    static var option: [String] { geteuid() == 0 ? [] : ["--user"] }

    /// Gives systemctl a unit's name as it is, without a shell, which would read it again.
    ///
    /// - Returns: Whether systemctl ended with 0.
    static func does(_ verb: String, _ options: [String], to unit: String, showsErrors: Bool) -> Bool {
        let words = ["systemctl"] + option + ["--quiet", verb] + options + ["--", unit]
        return (try? ChildOutput.of(words, showsErrors: showsErrors))?.status == 0
    }

    /// Whether systemctl takes the text for one unit, without escaping or matching.
    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 255
            && text.utf8.allSatisfy { byte in
                0x30...0x39 ~= byte || 0x61...0x7a ~= byte | 0x20 || #":_.\@-"#.utf8.contains(byte)
            }
    }
}

/// A transient systemd scope: all processes of a command, also those that left its process group. systemd-run(1) and
/// systemctl(1) act for it, since they know the manager's bus of this user.
struct ScopeUnit {
    let name: String
    private let grace: Duration

    /// - Parameter grace: The time between SIGTERM and SIGKILL.
    init(grace: Duration) {
        name = "reach-run-\(getpid()).scope"
        self.grace = grace
    }

    /// The words before the command. systemd-run replaces itself by the command once the scope is there.
    var launcher: [String] {
        let seconds = max(1, (grace.nanoseconds + 999_999_999) / 1_000_000_000)
        return ["systemd-run"] + ServiceManager.option
            + ["--scope", "--quiet", "--collect", "--unit=\(name)", "--property=TimeoutStopSec=\(seconds)s", "--"]
    }

    /// - Returns: Whether systemd has frozen it; it cannot without the unified hierarchy of control groups.
    func freeze() -> Bool { systemctl("freeze") }

    func thaw() { _ = systemctl("thaw") }

    /// Asks all processes to end; systemd kills those that are left after the grace.
    func stop() { _ = systemctl("stop", "--no-block") }

    /// Waits until systemd has ended what ``stop()`` asked to end.
    func waitForStop() { _ = systemctl("stop") }

    func kill() { _ = systemctl("kill", "--signal=SIGKILL") }

    private func systemctl(_ verb: String, _ options: String...) -> Bool {
        ServiceManager.does(verb, options, to: name, showsErrors: false)
    }
}
