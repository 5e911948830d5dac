internal import ArgumentParser

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Explain step by step why a target is reachable or not.")

    @OptionGroup var observation: ObservationOptions

    func run() throws {}
}
