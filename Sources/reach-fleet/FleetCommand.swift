internal import ArgumentParser
internal import ReachFleetLink

/// The command `reach-fleet`, which `reach fleet` runs.
struct FleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reach-fleet",
        abstract: "Report what this host sees to its fleet, and look at the fleet.",
        version: "reach-fleet 0.1.0 (libnats \(NATSLibrary.version))")
}
