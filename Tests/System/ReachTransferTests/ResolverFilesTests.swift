import Glibc
import ReachCore
import ReachTesting
import ReachTransfer
import Testing

/// A change of the machine's files counts for the next question.
struct ResolverFilesTests {
    private func ask(_ name: String, on stage: TransferStage) async throws -> Result<[IPAddress], NameFailure> {
        let log = EventLog<Result<[IPAddress], NameFailure>>()
        stage.perform { room in
            _ = room.engine.resolver.resolve(NameQuestion(name), within: .seconds(5)) { log.append($0) }
        }
        return try await log.wait(for: 1)[0]
    }

    @Test func `a name that has moved in the hosts file is found within a second`() async throws {
        let files = try TemporaryDirectory()
        var options = TransferEngine.Options()
        options.resolver.hostsPath = try files.file("hosts", "192.0.2.7 box.example\n")
        options.resolver.configurationPath = try files.file("resolv.conf", "nameserver 192.0.2.53\n")
        options.resolver.servicesPath = try files.file("nsswitch.conf", "hosts: files dns\n")
        let stage = try TransferStage(options: options)
        #expect(try await ask("box.example", on: stage) == .success(["192.0.2.7"]))
        for address: IPAddress in ["192.0.2.8", "192.0.2.9"] {
            _ = try files.file("hosts", "\(address) box.example\n")
            let begun = ContinuousClock.now
            var answer = try await ask("box.example", on: stage)
            while answer != .success([address]), ContinuousClock.now - begun < .seconds(1) {
                answer = try await ask("box.example", on: stage)
            }
            #expect(answer == .success([address]))
        }
    }
}
