internal import ArgumentParser

struct LinksCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "links", abstract: "Print the links of this machine and what each is.")

    @OptionGroup var observation: ObservationOptions

    func run() throws {}
}
