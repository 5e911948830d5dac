import ReachDaemon
import ReachTOML

extension Configuration {
    /// What the daemon says about a file with this text; empty if it can be used.
    static func errors(in text: String) -> [String] {
        do throws(ConfigurationError) {
            _ = try parse(Array(text.utf8), file: "reach.toml")
            return []
        } catch {
            return error.lines
        }
    }
}
