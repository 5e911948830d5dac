import Glibc
import ReachTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct ServiceExampleTests {
    @Test func `the example stops at a signal, and its stored requests were sent or are there`() throws {
        let directory = try TemporaryDirectory()
        let server = try ScriptedServer { connection in
            while !connection.readRequest().isEmpty {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let program = try BuiltProgram(named: "service").start([
            directory.path + "/queue", "http://127.0.0.1:\(server.port)/beats",
        ])
        #expect(try program.nextLine() == "stored a beat")
        program.send(SIGTERM)
        let result = try program.finish()
        #expect(result.status == 0 && result.lines.last == "stopped")
    }
}
