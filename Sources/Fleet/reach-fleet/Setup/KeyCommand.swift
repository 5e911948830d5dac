internal import ArgumentParser
internal import Glibc
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachLoop
internal import ReachTerminal

struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Make a key, and print its public half.",
        discussion: """
            Writes the secret seed of an nkey into FILE, which only its owner may read, and prints the public half, \
            which goes into the list of hosts or to `reach-fleet config`. A FILE that is there is not replaced: its \
            public half is printed. The seed is never printed unless --print-seed asks for it.

            Example: reach fleet key /etc/reach/fleet.nk
            """)

    @Flag(help: "Replace the key in FILE. The server knows the host no longer until its list has the new public half.")
    var new = false

    @Flag(name: .customLong("print-seed"), help: "Print the seed, too. Whoever sees it can act as its owner.")
    var printSeed = false

    @Option(
        help: ArgumentHelp(
            "Put the key's token, which `reach-fleet sign` printed, into FILE; - for standard input.",
            valueName: "file"))
    var token: String?

    @Flag(help: "Print a JSON object.")
    var json = false

    @Argument(help: "The file of the key.")
    var file: String

    func run() throws {
        let exists = access(file, F_OK) == 0
        let pair = try exists && !new ? read() : make()
        if let token { try add(token, to: pair) }
        guard !json else {
            return StandardOutput.writeJSON {
                $0.object {
                    $0.field("v", 1)
                    $0.field("type", "fleet-key")
                    $0.field("public", pair.publicKey)
                    $0.field("file", file)
                    $0.field("made", !exists || new)
                    if printSeed { $0.field("seed", pair.seed) }
                }
            }
        }
        StandardOutput.write(pair.publicKey + "\n" + (printSeed ? pair.seed + "\n" : ""))
    }

    private func read() throws -> NKeyPair {
        do throws(NATSError) {
            guard let pair = try NATSIdentity.read(file).keyPair else {
                throw NATSError(.invalid, "key file '\(file)': no key")
            }
            return pair
        } catch {
            throw FleetFailure(.cannotRead, error.description)
        }
    }

    private func add(_ path: String, to pair: NKeyPair) throws {
        let text = FleetArgument.smallText(path)
        guard let token = text?.textWords.first.flatMap({ try? NATSToken(String($0)) }) else {
            throw FleetFailure(.cannotRead, "\(DisplayText.sanitized(path)): it is not what `reach-fleet sign` printed")
        }
        guard token.subject == pair.publicKey else {
            throw FleetFailure(
                .cannotRead, DisplayText.sanitized("\(path): the token is for another key, \(token.subject)"))
        }
        try write(NATSCredentials(token: token, key: pair).text)
    }

    private func make() throws -> NKeyPair {
        let pair = try NKeyPair.generate()
        try write(pair.seed + "\n")
        return pair
    }

    private func write(_ text: String) throws {
        do throws(SystemError) {
            try AtomicFile.replace(file, with: Array(text.utf8), mode: 0o600)
        } catch {
            throw FleetFailure(.cannotCreate, DisplayText.sanitized("\(error)"))
        }
    }
}
