import Foundation
import ReachTesting
import Testing

/// The examples that follow the network, in namespaces.
@Suite(.timeLimit(.minutes(2)), .enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
struct NetworkExampleTests {
    @Test func `network-monitor prints the state, and each change`() throws {
        let machine = try TestNamespace()
        defer { machine.remove() }
        try machine.vethPair()
        let program = try BuiltProgram(named: "network-monitor").start(in: machine.name)
        var lines = [try program.nextLine()]
        try machine.run("ip", "route", "del", "default")
        lines.append(try program.nextLine())
        try machine.run("ip", "route", "add", "default", "via", "192.0.2.1")
        lines.append(try program.nextLine())
        #expect(lines == Readme.runs(of: "network-monitor").first)
    }

    @Test func `wifi-upload holds the upload until there is Wi-Fi, even across runs`() throws {
        let machine = try TestNamespace()
        defer { machine.remove() }
        let peer = try machine.vethPair()
        let server = try ExampleServer(at: "192.0.2.1:80", in: peer)
        try machine.run("ip", "link", "set", "up0", "down")
        let directory = try TemporaryDirectory()
        let file = try directory.file("log", "what happened")
        // A veth counts as Wi-Fi here: not every kernel can simulate a wireless card.
        let arguments = [directory.path + "/queue", file, "http://192.0.2.1/logs/1", "up*"]
        let program = BuiltProgram(named: "wifi-upload")
        // Killed while it waits: the next run sends the request that was printed as stored.
        let first = try program.start(arguments, in: machine.name)
        var lines = [[try first.nextLine(), try first.nextLine()]]
        first.send(SIGKILL)
        _ = try? first.finish(within: .seconds(5))
        let second = try program.start(arguments, in: machine.name)
        lines.append([try second.nextLine(), try second.nextLine(), try second.nextLine()])
        try machine.run("ip", "link", "set", "up0", "up")
        try machine.run("ip", "route", "add", "default", "via", "192.0.2.1")
        let result = try second.finish()
        lines[1] += result.lines
        #expect(result.status == 0 && lines == Readme.runs(of: "wifi-upload"))
        // Closing waits for the other request's attempt no longer than for its own: it may be under way.
        let requests = try server.end()
        #expect((1...2).contains(requests.count) && requests.allSatisfy { $0 == "PUT /logs/1 201" })
    }

    @Test func `the example of the libraries' page is the code of wifi-upload`() {
        let readme = ProjectFile.text("Documentation/library.md")
        let program = ProjectFile.text("Examples/WiFiUpload/WiFiUpload.swift")
        guard let start = readme.range(of: "import ReachSession\n\n"),
            let end = readme[start.upperBound...].range(of: "```")
        else {
            Issue.record("the page has no example")
            return
        }
        let lines = readme[start.upperBound..<end.lowerBound].split(separator: "\n")
        #expect(lines.count == 5)
        for line in lines.dropFirst() {
            let code = line.split(separator: "  //")[0].replacingOccurrences(
                of: #""/var/log/example.log""#, with: "file"
            )
            .replacingOccurrences(of: #""https://example.org/logs/1""#, with: "url")
            #expect(program.contains("        \(code)\n"), "\(code)")
        }
    }
}
