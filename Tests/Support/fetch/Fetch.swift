import Glibc
import ReachCore
import ReachLoop
import ReachTransfer

/// Makes transfers and lookups in a process of its own, for tests of the environment and of files in /etc.
///
///     fetch URL
///     fetch --names NAME[%INTERFACE]...
///     fetch --follow NAME
///     fetch --compare INTERFACE NAME...
///
/// The first makes one transfer, and prints the status or the word for the failure. `--names` resolves all names
/// concurrently, and prints each with its addresses or the word for the failure, in the order of completion. `--follow`
/// resolves a name repeatedly, and prints each result that differs from the previous one. `--compare` has each name
/// resolved by getaddrinfo(3) and by a question that is bound to the interface, and prints both, in the order of
/// completion.
@main enum Fetch {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        let words = CommandLine.arguments.dropFirst()
        guard let loop = try? EventLoop(), let engine = try? TransferEngine(loop: loop) else { exit(2) }
        let replies = LoopReplies(loop: loop)
        defer { withExtendedLifetime(replies) {} }
        switch words.first {
        case "--names": resolve(Array(words.dropFirst()), engine, loop)
        case "--compare": compare(Array(words.dropFirst(2)), words.dropFirst().first ?? "", loop, replies)
        case "--follow": words.last.map { follow($0, "", engine, loop) }
        default: get(words.first ?? "", engine, loop)
        }
        loop.run()
    }
}

private func get(_ text: String, _ engine: TransferEngine, _ loop: EventLoop) {
    guard let url = try? TransferURL(text) else { exit(2) }
    _ = engine.start(
        TransferRequest(url: url),
        handler: TransferHandler { event in
            guard case .finished(let report) = event else { return }
            printLine(report.response.map { "\($0.status)" } ?? report.failure?.reason.rawValue ?? "")
            loop.stop()
        })
}

private func resolve(_ words: [String], _ engine: TransferEngine, _ loop: EventLoop) {
    var open = words.count
    for word in words {
        resolve(word, engine) { answer in
            printLine(word + " " + answer)
            open -= 1
            if open == 0 { loop.stop() }
        }
    }
}

private func compare(
    _ names: [String], _ interface: String, _ loop: EventLoop, _ replies: LoopReplies
) {
    // What is compared are meanings: a busy machine delays the answer about one family.
    var options = NameService.Options()
    options.resolutionDelay = .seconds(10)
    let service = NameService(loop: loop, options: options)
    var open = names.count
    for name in names {
        var (system, bound): (String?, String?)
        func note() {
            guard let system, let bound else { return }
            printLine("\(name) \(system)|\(bound)")
            open -= 1
            if open == 0 { loop.stop() }
        }
        let reply = replies.expect { (answer: NameAnswer) in
            system = text(answer)
            note()
        }
        BackgroundThread.start(named: "fetch") { reply(SystemResolver.resolve(name)) }
        let question = NameQuestion(name, interface: InterfaceBinding(name: interface))
        _ = service.resolve(question, within: .seconds(60)) { [service] result in
            defer { withExtendedLifetime(service) {} }
            bound = text(result)
            note()
        }
    }
}

/// The addresses in a fixed order, or the kind of error: whether the name has none, or nobody could say so.
private func text(_ answer: NameAnswer) -> String {
    switch answer {
    case .addresses(let addresses): text(addresses)
    case .noAddress: "none"
    case .notAsked: "unanswered"
    }
}

private func text(_ result: Result<[IPAddress], NameFailure>) -> String {
    switch result {
    case .success(let addresses): text(addresses)
    case .failure(.notFound): "none"
    case .failure: "unanswered"
    }
}

private func text(_ addresses: [IPAddress]) -> String { addresses.map(\.description).sorted().joined(separator: " ") }

private func follow(_ name: String, _ last: String, _ engine: TransferEngine, _ loop: EventLoop) {
    resolve(name, engine) { answer in
        if answer != last { printLine(answer) }
        loop.schedule(at: SystemClock.boot + .milliseconds(100)) { follow(name, answer, engine, loop) }
    }
}

private func resolve(_ word: String, _ engine: TransferEngine, _ completion: @escaping (String) -> Void) {
    let parts = word.split(separator: "%").map(String.init)
    let interface = parts.dropFirst().first.map { InterfaceBinding(name: $0) }
    _ = engine.resolver.resolve(NameQuestion(parts[0], interface: interface), within: .seconds(2)) { result in
        switch result {
        case .success(let addresses): completion(addresses.map(\.description).joined(separator: " "))
        case .failure(.notFound): completion("not-found")
        case .failure(.silent): completion("silent")
        case .failure(.serverFailure): completion("server-failure")
        case .failure(.notAsked): completion("not-asked")
        }
    }
}

/// Prints a line without buffering: the reader waits for it.
private func printLine(_ text: String) {
    let line = text + "\n"
    write(STDOUT_FILENO, line, line.utf8.count)
}
