import ReachCore
import ReachProbe
import ReachRecords
import Testing

struct DiagnosisTests {
    @Test(arguments: DiagnosisSituation.all)
    func `each way to be broken is laid to the right layer and party`(situation: DiagnosisSituation) {
        let diagnosis = situation.world().run.diagnosis
        let report = "\(diagnosis.blame?.text ?? "no blame"); \(diagnosis.steps.map(\.text))"
        #expect(diagnosis.outcome == situation.outcome, "\(report)")
        #expect(diagnosis.blame?.party == situation.party, "\(report)")
        #expect(diagnosis.blame?.layer == situation.layer, "\(report)")
        #expect(diagnosis.blame?.subject == situation.subject, "\(report)")
    }

    @Test func `there are enough situations`() { #expect(DiagnosisSituation.all.count { $0.party != nil } >= 30) }

    @Test func `what does not depend on each other begins at once`() {
        var machine = DiagnosisMachine(
            DiagnosisEvidence(title: "", target: try? DiagnosisDestination.read("https://www.example.net/")))
        #expect(
            Set(machine.nextTasks()) == [.internet, .servers, .resolve("www.example.net"), .hosts("www.example.net")])
        machine.record(.resolved(.addresses([DiagnosisWorld.web.address])), of: .resolve("www.example.net"))
        #expect(machine.nextTasks() == [.path(DiagnosisWorld.web)])
        machine.record(.path(DiagnosisWorld.path(to: DiagnosisWorld.web.address)), of: .path(DiagnosisWorld.web))
        // Neither waits for the name servers.
        #expect(machine.nextTasks().contains(.connect(DiagnosisWorld.web, port: 443)))
        #expect(!machine.isComplete)
    }

    @Test func `the portal's API is named where there is a portal, and nowhere else`() {
        let isNamed = DiagnosisSituation.all.filter { situation in
            var world = situation.world()
            world.portalAPI = "https://portal.example/api"
            return world.run.diagnosis.steps.contains { $0.text.contains("https://portal.example/api") }
        }
        #expect(isNamed.map(\.name) == DiagnosisSituation.all.filter { $0.layer == .portal }.map(\.name))
        #expect(!isNamed.isEmpty)
    }

    @Test func `the last handshake of a tunnel that carries nothing is said`() {
        let texts = DiagnosisSituation.all.filter { $0.name == "the far end of WireGuard is silent" }
            .flatMap { $0.world().run.diagnosis.steps.map(\.text) }
        #expect(
            texts.contains {
                $0.contains("up0 carries nothing, since the last handshake with 203.0.113.51 was 12 min 0 s ago")
            })
    }

    @Test(arguments: ["rejects", "forbidden", "a"])
    func `what is concluded does not depend on how a link is called`(name: String) throws {
        var world = DiagnosisWorld()
        world.target = "tcp://[fe80::80%\(name)]:22"
        var way = NetworkPath(status: .reachable)
        (way.interface, way.interfaceIndex) = (name, 2)
        world.change = { [way] task in
            switch task {
            case .path(let host) where host.zone == name: .path(PathFact(status: .reachable, ipv6: way))
            case .connect(let host, _) where host.zone == name: .connected(.failed(105))
            default: nil
            }
        }
        let blame = try #require(world.run.diagnosis.blame)
        #expect(blame.text == "this machine did not send to fe80::80%\(name) (error 105)")
        world.target = "tcp://198.51.100.80:22"
        world.change = { task in
            guard case .path = task else { return nil }
            let path = NetworkPath(status: .notReachable, reason: .linkDown)
            return .path(
                PathFact(
                    status: .notReachable, reason: .linkDown, rootCause: RootCause(.linkDown, interface: name),
                    ipv4: path, ipv6: .notAsked))
        }
        #expect(world.run.diagnosis.steps.first?.text.hasPrefix("\(name) is down. ") == true)
    }

    @Test func `nothing is sent where the kernel has no path`() {
        var world = DiagnosisWorld()
        world.target = "tcp://198.51.100.80:22"
        world.change = DiagnosisWorld.broken(.noRoute, .linkDown)
        let sending = world.run.tasks.filter {
            switch $0 {
            case .internet, .path, .servers, .resolve, .hosts: false
            default: true
            }
        }
        #expect(sending == [])
    }

    @Test func `a gateway that passes answers on need not answer by itself`() {
        var machine = DiagnosisMachine(
            DiagnosisEvidence(title: "x", target: try? DiagnosisDestination.read("tcp://198.51.100.80:22")))
        var waiting: [DiagnosisTask] = []
        while case let tasks = machine.nextTasks(), !tasks.isEmpty {
            for task in tasks {
                if case .solicit = task {
                    waiting.append(task)
                } else {
                    machine.record(DiagnosisWorld.healthy(task), of: task)
                }
            }
        }
        #expect(waiting.count == 1)
        #expect(machine.isComplete)
        #expect(machine.diagnosis.outcome == .ok)
        #expect(machine.diagnosis.steps.contains { $0.subject == .gateway && $0.finding == .good })
    }

    @Test func `a diagnosis that runs out of time says what it knows`() {
        var machine = DiagnosisMachine(
            DiagnosisEvidence(title: "x", target: try? DiagnosisDestination.read("tcp://198.51.100.80:22")))
        _ = machine.nextTasks()
        #expect(machine.diagnosis.outcome == .unknown)
        #expect(machine.diagnosis.blame == nil)
    }

    @Test(
        arguments: [
            ("example.org", [443, 80], true), ("192.0.2.1", [443, 80], true), ("example.org:22", [22], false),
            ("[2001:db8::1]:22", [22], false), ("https://example.org/x", [443], false),
            ("http://example.org:8080/", [8080], false), ("tls://example.org:993", [993], false),
            ("tcp://192.0.2.1:1", [1], false), ("icmp://192.0.2.1", [], false), ("ssh://example.org", [443, 80], true),
        ] as [(String, [UInt16], Bool)])
    func `targets are read as explain and probe read them`(text: String, ports: [UInt16], isBare: Bool) throws {
        let destination = try #require(try DiagnosisDestination.read(text))
        #expect(destination.ports == ports)
        #expect(destination.isBare == isBare)
    }

    @Test func `the Internet is no destination`() throws { #expect(try DiagnosisDestination.read("internet") == nil) }

    @Test(arguments: ["interface:eth0", "192.0.2.0/24", "", "dns:example.org", "http://example.org:0/", "a b", "a:b:c"])
    func `what cannot be tested is an error with a sentence`(text: String) {
        #expect(throws: TargetError.self) { try DiagnosisDestination.read(text) }
    }

    @Test(
        arguments: [
            ("https://example.org/", ["https_proxy": "http://p.example:3128"], "p.example", 3128),
            ("https://example.org/", ["HTTPS_PROXY": "p.example:3128"], "p.example", 3128),
            ("http://example.org/", ["HTTP_PROXY": "http://p.example:3128"], nil, 0),
            ("http://example.org/", ["all_proxy": "socks5h://p.example"], "p.example", 1080),
            ("http://example.org/", ["all_proxy": "http://p.example:3128", "http_proxy": ""], nil, 0),
            ("https://example.org/", ["https_proxy": "http://p.example:3128", "no_proxy": "example.org"], nil, 0),
            ("example.org", ["https_proxy": "http://p.example:3128"], "p.example", 3128),
            ("tcp://example.org:443", ["https_proxy": "http://p.example:3128"], nil, 0),
        ] as [(String, [String: String], String?, UInt16)])
    func `the proxy is that of the environment`(
        target: String, variables: [String: String], host: String?, port: UInt16
    ) throws {
        let destination = try #require(try DiagnosisDestination.read(target))
        let proxy = EnvironmentProxies { variables[$0] }.proxy(for: destination)
        #expect(proxy?.host == host.map { .name($0) })
        #expect((proxy?.port ?? 0) == port)
    }
}
