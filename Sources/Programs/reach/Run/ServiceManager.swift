internal import Glibc

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
