import Glibc
import ReachCore
import ReachLoop
import ReachTransfer

/// Makes transfers and lookups in a process of its own, for tests of the environment and of files in /etc.
///
///     fetch URL
///     fetch --names NAME[%INTERFACE]...
///     fetch --follow NAME
///
/// The first makes one transfer, and prints the status or the word for the failure. `--names` resolves all names
/// concurrently, and prints each with its addresses or the word for the failure, in the order of completion. `--follow`
/// resolves a name repeatedly, and prints each result that differs from the previous one.
@main enum Fetch {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        let words = CommandLine.arguments.dropFirst()
        guard let loop = try? EventLoop(), let engine = try? TransferEngine(loop: loop) else { exit(2) }
        switch words.first {
        case "--names": resolve(Array(words.dropFirst()), engine, loop)
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
