import Foundation
import ReachTesting
import Testing

/// The programs of `Examples/`, run as its README says, against its server. What they print is what the README says.
@Suite(.timeLimit(.minutes(2))) struct ExampleTests {
    @Test func `token-refresh meets one 401, and refreshes its token once`() throws {
        let server = try ExampleServer()
        let result = try BuiltProgram(named: "token-refresh").run([server.url])
        #expect(result.status == 0 && result.lines == Readme.runs(of: "token-refresh").first)
        let requests = try server.end()
        #expect(requests.prefix(3) == ["GET /orders/1 401", "POST /token 200", "GET /orders/1 200"])
        #expect(requests.dropFirst(3).sorted() == ["GET /orders/2 200", "GET /orders/3 200"])
    }

    @Test func `offline-cache prints what is stored when the server has gone`() throws {
        let (server, directory) = (try ExampleServer(), try TemporaryDirectory())
        let program = BuiltProgram(named: "offline-cache")
        func run(_ store: String) throws -> BuiltProgram.Result {
            try program.run([directory.path + "/" + store, server.url + "/headlines"])
        }
        let online = [try run("cache"), try run("cache")]
        let requests = try server.end()
        #expect(requests == ["GET /headlines 200", "GET /headlines 304"])
        let offline = try run("cache")
        #expect((online + [offline]).allSatisfy { $0.status == 0 })
        let printed = (online + [offline]).map { $0.lines.map(Readme.plain) }
        #expect(printed == Array(Readme.runs(of: "offline-cache").prefix(3)))
        // Nothing is stored there.
        let empty = try run("empty")
        #expect(empty.status == 1 && empty.standardOutput.hasPrefix("not available (connection-refused): "))
    }

    @Test func `downloader resumes after Ctrl-C where it was interrupted`() throws {
        let (server, directory) = (try ExampleServer(), try TemporaryDirectory())
        let file = directory.path + "/large"
        let program = BuiltProgram(named: "downloader")
        let first = try program.start([server.url + "/large", file])
        while try !first.nextLine().contains("#") {}
        first.send(SIGINT)
        let interrupted = try first.finish()
        #expect(interrupted.status == 130 && interrupted.lines.last == "the request was cancelled")
        #expect(!FileManager.default.fileExists(atPath: file))
        let second = try program.run([server.url + "/large", file])
        let offset = try #require(second.lines.first?.wholeMatch(of: /resumes at (\d+) bytes/)?.1)
        #expect(second.status == 0 && second.lines.last == "4194304 bytes in \(file)")
        let requests = try server.end()
        #expect(requests == ["GET /large 200", "GET /large 206 bytes=\(offset)-"])
        let expected = Data((0..<4 << 20).lazy.map { UInt8(truncatingIfNeeded: $0) })
        #expect(FileManager.default.contents(atPath: file) == expected)
        let left = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(left == ["large"])
        let readme = Readme.runs(of: "downloader")
        #expect(readme.count == 2 && readme.first?.last == "the request was cancelled")
        #expect(readme.last?.first?.hasPrefix("resumes at ") == true)
    }

    @Test func `each step of from-afnetworking runs`() throws {
        let server = try ExampleServer()
        let result = try BuiltProgram(named: "from-afnetworking").run([server.url])
        #expect(result.status == 0 && result.lines == Readme.runs(of: "from-afnetworking").first)
        _ = try server.end()
    }

    @Test func `view-model, operation-queue and upload-once print what their page says`() throws {
        let server = try ExampleServer()
        for name in ["view-model", "operation-queue"] {
            let result = try BuiltProgram(named: name).run([server.url])
            #expect(result.status == 0 && result.lines == Readme.runs(of: name).first, "\(name)")
        }
        let upload = try BuiltProgram(named: "upload-once").run(["/etc/hostname", server.url + "/logs"])
        #expect(upload.status == 0 && upload.lines == Readme.runs(of: "upload-once").first)
        let requests = try server.end()
        #expect(requests.last == "POST /logs 201" && !requests.contains { $0.hasPrefix("POST /mails") })
    }

    @Test func `an example without its arguments says how it is used`() throws {
        for name in [
            "wifi-upload", "token-refresh", "offline-cache", "downloader", "from-afnetworking",
            "view-model", "operation-queue", "upload-once",
        ] {
            let result = try BuiltProgram(named: name).run()
            #expect(result.status == 2 && result.standardOutput.hasPrefix("usage: \(name) "))
        }
        let result = try BuiltProgram(named: "network-monitor").run(["-"])
        #expect(result.status == 2)
    }

    @Test func `the README of the examples says which programs there are`() {
        let package = ProjectFile.text("Package.swift")
        let names = package.matches(of: /example\("([a-z-]+)", "([A-Za-z]+)"/).map { (String($0.1), String($0.2)) }
        #expect(names.count == 9)
        let readme = ProjectFile.text("Examples/README.md")
        for (name, folder) in names {
            #expect(readme.contains("[`\(name)`](\(folder))"))
            #expect(!Readme.runs(of: name).isEmpty, "\(name)")
        }
    }
}
