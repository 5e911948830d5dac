import ReachCore
import ReachQueueRuntime
import ReachTOML
import ReachTransfer
import Testing

@testable import ReachDaemon
import ReachRecords

@Suite struct ProxyConfigurationTests {
    private func parse(_ text: String) throws -> Configuration {
        try Configuration.parse(Array(text.utf8), file: "reach.toml")
    }

    @Test func `each scheme has a key, and exceptions are a list`() throws {
        let table = try parse(
            "[connectivity]\nproxy = \"http://192.0.2.9:3128\"\nhttps_proxy = \"socks5h://u:p@[2001:db8::9]\"\nno_proxy = [\"example.net\"]\n"
        ).connectivity.proxies
        let proxies = table.resolved
        #expect(proxies.http?.port == 3128 && proxies.https?.scheme == "socks5h" && proxies.https?.port == 1080)
        #expect(table.exceptions == ["example.net"])
        #expect(try parse("[connectivity]\nproxy = \"none\"\n").connectivity.proxies.resolved.http == nil)
    }

    @Test func `the queue uses the proxies of the checks unless it has its own`() throws {
        let shared = try parse("[connectivity]\nproxy = \"http://192.0.2.9:3128\"\n")
        #expect(shared.queueOptions(version: "1").attempts.proxies.http?.host == "192.0.2.9")
        let own = try parse("[connectivity]\nproxy = \"http://192.0.2.9:3128\"\n[queue]\nproxy = \"none\"\n")
        #expect(own.queueOptions(version: "1").attempts.proxies.http == nil)
    }

    @Test func `explain --probe asks the pages by the proxy of the checks`() throws {
        let connectivity = try parse(
            """
            [connectivity]
            endpoints = ["http://page.example.net/204", "https://near.example.net/"]
            proxy = "http://192.0.2.9:3128"
            no_proxy = ["near.example.net"]
            """
        ).connectivity
        let pages = SingleDiagnosis.destinations(of: connectivity).map(\.destination)
        #expect(pages.map { $0.proxy?.port } == [3128, nil])
        #expect(
            pages[0].nextHost == .address(HostAddress(IPAddress(ipv4: 0xc000_0209))) && pages[0].nextPorts == [3128])
        #expect(pages[0].host == .name("page.example.net") && pages[1].nextPorts == [443])
    }

    @Test(arguments: [
        "proxy = \"https://u:secret@p.example.org\"", "proxy = \"p.example.org:3128\"", "proxy = 3128",
        "no_proxy = [\"a,b\"]",
        "no_proxy = [\"\"]",
    ])
    func `what cannot be a proxy is an error, which repeats no password`(line: String) {
        let errors = Configuration.errors(in: "[queue]\n" + line)
        #expect(errors.count == 1 && !errors[0].contains("secret"), "\(errors)")
    }
}
