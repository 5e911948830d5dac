import ReachCore
import ReachTransfer
import Testing

/// Which service resolves a name, by the question and the files.
struct NamePlanTests {
    private static let up = InterfaceBinding(name: "up0")

    private func plan(_ host: String, by interface: InterfaceBinding?, services: String = "") -> NamePlan {
        let configuration = ResolverConfiguration(
            resolv: "", hosts: "192.0.2.7 seven seven.example", services: "passwd: files\nhosts: \(services)")
        return NamePlan(NameQuestion(host, interface: interface), configuration)
    }

    @Test(arguments: [nil, up])
    func `a name that the machine's files know needs no query`(interface: InterfaceBinding?) {
        let services = "files dns"
        #expect(plan("192.0.2.9", by: interface, services: services) == .known(["192.0.2.9"]))
        #expect(plan("2001:db8::9", by: interface, services: services) == .known(["2001:db8::9"]))
        #expect(plan("Seven", by: interface, services: services) == .known(["192.0.2.7"]))
        #expect(plan("seven.example.", by: interface, services: services) == .known(["192.0.2.7"]))
        #expect(plan("localhost", by: interface, services: services) == .known(["::1", "127.0.0.1"]))
        #expect(plan("a.localhost.", by: interface, services: services) == .known(["::1", "127.0.0.1"]))
    }

    @Test(
        arguments: [
            ("www.example", "files dns", .servers),
            ("www.example", "files mdns4_minimal [NOTFOUND=return] dns", .servers),
            ("www.example", "files resolve [!UNAVAIL=return] dns", .servers),
            ("www.example", "files resolve", .servers),
            ("printer", "files dns", .servers),
            ("printer", "files dns myhostname", .system(servesAlone: true)),
            ("printer.", "files dns", .servers),
            ("printer.local", "files dns myhostname", .servers),
            ("printer.LOCAL.", "files mdns4_minimal [NOTFOUND=return] dns", .system(servesAlone: true)),
            ("www.example", "files ldap", .system(servesAlone: true)),
            ("seven.example", "dns", .servers),
        ] as [(String, String, NamePlan)])
    func `a question bound to an interface goes to servers, unless DNS cannot know the name`(
        host: String, services: String, expected: NamePlan
    ) {
        #expect(plan(host, by: Self.up, services: services) == expected)
    }

    @Test(arguments: [
        ("www.example", "files dns", false), ("printer", "files mdns4_minimal dns", true),
        ("printer", "files dns", false), ("www.example", "files ldap", true),
        ("printer.local", "files mdns4 dns", true), ("seven.example", "dns", false),
    ])
    func `any other question goes to the system`(host: String, services: String, servesAlone: Bool) {
        #expect(plan(host, by: nil, services: services) == .system(servesAlone: servesAlone))
    }

    @Test func `without a line of nsswitch.conf, files and DNS are used`() {
        #expect(ResolverConfiguration(resolv: "", hosts: "").services == ["files", "dns"])
        #expect(ResolverConfiguration(resolv: "", hosts: "", services: "hosts:\tdns # files").services == ["dns"])
    }
}
