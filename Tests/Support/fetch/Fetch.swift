import Glibc
import ReachCore
import ReachLoop
import ReachTransfer

/// `fetch URL`: makes one transfer and prints the status, or the word for the failure.
/// `fetch --names NAME[%INTERFACE]...`: looks all of them up at once, and prints each with its addresses or the word for
/// the failure, in the order in which they end.
/// `fetch --follow NAME`: looks it up again and again, and prints what it gets whenever that differs.
///
/// For tests that need a process of their own, such as those of its environment and of the files in /etc.
@main enum Fetch {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        let words = CommandLine.arguments.dropFirst()
        guard let loop = try? EventLoop(), let engine = try? TransferEngine(loop: loop) else { exit(2) }
        switch words.first {
        case "--names": look(up: Array(words.dropFirst()), engine, loop)
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
            say(report.response.map { "\($0.status)" } ?? report.failure?.reason.rawValue ?? "")
            loop.stop()
        })
}

private func look(up words: [String], _ engine: TransferEngine, _ loop: EventLoop) {
    var open = words.count
    for word in words {
        ask(word, engine) { answer in
            say(word + " " + answer)
            open -= 1
            if open == 0 { loop.stop() }
        }
    }
}

private func follow(_ name: String, _ last: String, _ engine: TransferEngine, _ loop: EventLoop) {
    ask(name, engine) { answer in
        if answer != last { say(answer) }
        loop.schedule(at: SystemClock.boot + .milliseconds(100)) { follow(name, answer, engine, loop) }
    }
}

private func ask(_ word: String, _ engine: TransferEngine, _ completion: @escaping (String) -> Void) {
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

/// At once: who reads waits for the line.
private func say(_ text: String) {
    let line = text + "\n"
    write(STDOUT_FILENO, line, line.utf8.count)
}
