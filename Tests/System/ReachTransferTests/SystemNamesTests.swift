import Glibc
import ReachTesting
import Testing

/// Names that the name service resolves by the machine's files and modules, in a process in a network namespace with
/// its own /etc/hosts, /etc/nsswitch.conf and /etc/resolv.conf.
@Suite(
    .enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"),
    .enabled(if: NameServer.isAvailable, "\(NameServer.whyNot)"))
struct SystemNamesTests {
    private final class Stage {
        let namespace: TestNamespace
        let peer: TestNamespace
        private let files: TemporaryDirectory
        private var servers: [NameServer] = []

        init(hosts: String = "192.0.2.70 box box.example\n", services: String = "files dns", resolv: String) throws {
            namespace = try TestNamespace()
            peer = try namespace.vethPair()
            files = try TemporaryDirectory()
            _ = try files.file("hosts", hosts)
            _ = try files.file("nsswitch.conf", "hosts: \(services)\n")
            _ = try files.file("resolv.conf", resolv)
        }

        deinit {
            servers = []
            namespace.remove()
        }

        func serve(_ options: [String], in namespace: TestNamespace) throws {
            servers.append(try NameServer(options + ["--local=/example/"], port: 53, in: namespace))
        }

        /// Written in place: the bind mount shows this file.
        func write(_ text: String, to file: String) throws {
            let descriptor = open(files.path + "/" + file, O_WRONLY | O_TRUNC)
            defer { close(descriptor) }
            #expect(Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count)
        }

        func start(_ words: [String]) throws -> RunningProgram {
            let script = """
                for file in hosts nsswitch.conf resolv.conf; do mount --bind "$0/$file" "/etc/$file"; done
                exec "$@"
                """
            return try BuiltProgram(named: "unshare").start(
                ["--mount", "sh", "-c", script, files.path, BuiltProgram(named: "fetch").path] + words,
                in: namespace.name)
        }

        func look(up names: String...) throws -> [String: String] {
            let result = try start(["--names"] + names).finish()
            return Dictionary(
                uniqueKeysWithValues: result.lines.map { line in
                    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
                    return (words[0], words.count > 1 ? words[1] : "")
                })
        }
    }

    @Test func `hosts file, search domains and DNS are used as by reach status, bound or not`() throws {
        let stage = try Stage(resolv: "search corp.example\nnameserver 192.0.2.1\n")
        try stage.serve(
            ["--host-record=web.corp.example,192.0.2.71", "--host-record=two.example,192.0.2.72,2001:db8::72"],
            in: stage.peer)
        for suffix in ["", "%up0"] {
            let names = ["box", "localhost", "web", "two.example", "none.example"].map { $0 + suffix }
            let found = try stage.look(up: names[0], names[1], names[2], names[3], names[4])
            #expect(found[names[0]] == "192.0.2.70", "\(found)")
            #expect(found[names[1]] == "::1 127.0.0.1" || found[names[1]] == "127.0.0.1", "\(found)")
            #expect(found[names[2]] == "192.0.2.71", "\(found)")
            #expect(Set((found[names[3]] ?? "").split(separator: " ")) == ["192.0.2.72", "2001:db8::72"], "\(found)")
            #expect(found[names[4]] == "not-found", "\(found)")
        }
    }

    @Test func `a bound question goes to the interface's servers, and an unbound one follows routing`() throws {
        // One address behind two links: the answer shows which link the query took.
        let stage = try Stage(resolv: "nameserver 198.51.100.53\n")
        let other = try TestNamespace()
        defer { other.remove() }
        try stage.namespace.run("ip", "link", "add", "two", "type", "veth", "peer", "name", "far", "netns", other.name)
        for (namespace, interface, address) in [
            (stage.namespace, "two", "203.0.113.2/24"), (other, "far", "203.0.113.1/24"),
        ] {
            try namespace.run("ip", "address", "add", address, "dev", interface)
            try namespace.run("ip", "link", "set", interface, "up")
        }
        try stage.namespace.run("ip", "route", "add", "default", "via", "203.0.113.1", "dev", "two", "metric", "200")
        for (namespace, answer) in [(stage.peer, "192.0.2.81"), (other, "192.0.2.82")] {
            try namespace.run("ip", "address", "add", "198.51.100.53/32", "dev", "lo")
            try stage.serve(["--host-record=a.example,\(answer)"], in: namespace)
        }
        let found = try stage.look(up: "a.example", "a.example%two")
        #expect(found == ["a.example": "192.0.2.81", "a.example%two": "192.0.2.82"])
    }

    @Test func `a machine whose nsswitch.conf has no files does not read its hosts file`() throws {
        let stage = try Stage(services: "dns", resolv: "nameserver 192.0.2.1\n")
        try stage.serve(["--host-record=other.example,192.0.2.71"], in: stage.peer)
        let found = try stage.look(up: "box.example", "box.example%up0", "other.example")
        #expect(found["box.example"] == "not-found" && found["box.example%up0"] == "not-found", "\(found)")
        #expect(found["other.example"] == "192.0.2.71")
    }

    @Test(arguments: ["", "%up0"])
    func `a running process sees a changed resolv.conf`(suffix: String) throws {
        let stage = try Stage(resolv: "nameserver 192.0.2.1\n")
        try stage.peer.run("ip", "address", "add", "192.0.2.3/24", "dev", "up1")
        for (address, answer) in [("192.0.2.1", "192.0.2.91"), ("192.0.2.3", "192.0.2.93")] {
            try stage.serve(
                [
                    "--listen-address=\(address)", "--bind-interfaces", "--host-record=a.example,\(answer)",
                    "--local-ttl=1",
                ], in: stage.peer)
        }
        let program = try stage.start(["--follow", "a.example" + suffix])
        #expect(try program.nextLine() == "192.0.2.91")
        try stage.write("nameserver 192.0.2.3\n", to: "resolv.conf")
        #expect(try program.nextLine(within: .seconds(15)) == "192.0.2.93")
        program.send(SIGTERM)
        _ = try? program.finish()
    }

    @Test func `a silent server delays no name that others know, and every lookup ends in time`() throws {
        // Nothing answers: no neighbour on the link has the server's address.
        let stage = try Stage(resolv: "nameserver 192.0.2.53\n")
        let silent = (0..<12).map { "name\($0).example" } + ["other.example%up0"]
        let program = try stage.start(["--names"] + silent + ["box", "localhost", "192.0.2.9"])
        let first = try Set((0..<3).map { _ in try String(program.nextLine().prefix { $0 != " " }) })
        #expect(first == ["box", "localhost", "192.0.2.9"])
        let result = try program.finish(within: .seconds(10))
        #expect(result.status == 0)
        #expect(
            result.lines.count { $0.hasSuffix(" silent") || $0.hasSuffix(" not-asked") } >= silent.count, "\(result)")
    }

    @Test(arguments: ["", "%up0"])
    func `a server that never answers about one family keeps no name that has addresses of the other`(
        suffix: String
    ) async throws {
        let stage = try Stage(resolv: "nameserver 192.0.2.1\n")
        try stage.serve(["--host-record=a.example,192.0.2.7"], in: stage.peer)
        // The type follows the headers of UDP and DNS, and the 11 bytes of the name.
        try stage.peer.run("nft", "add table inet f; add chain inet f i { type filter hook input priority 0; }")
        try stage.peer.run("nft", "add rule inet f i udp dport 53 @th,248,16 28 drop")
        let program = try stage.start(["--names", "a.example" + suffix])
        #expect(try program.nextLine(within: .seconds(4)) == "a.example\(suffix) 192.0.2.7")
    }

    @Test func `names whose servers are silent hold up no other name, though they hold all threads of the system`()
        async throws
    {
        let stage = try Stage(resolv: "nameserver 192.0.2.1\n")
        // It forwards these to an address where nothing answers, and is silent meanwhile.
        try stage.serve(["--server=/silent.test/192.0.2.53", "--host-record=good.example,192.0.2.7"], in: stage.peer)
        let silent = (0..<12).map { "name\($0).silent.test" }
        let program = try stage.start(["--names"] + silent + ["good.example"])
        #expect(try program.nextLine() == "good.example 192.0.2.7")
        let result = try program.finish(within: .seconds(10))
        #expect(result.lines.filter { $0.hasSuffix(" silent") }.count >= 12, "\(result)")
    }
}
