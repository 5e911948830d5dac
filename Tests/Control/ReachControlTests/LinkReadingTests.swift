import ReachCore
import ReachTesting
import Testing

@testable import ReachControl

@Suite struct LinkReadingTests {
    private let moment = Instant(wall: Timestamp(nanosecondsSince1970: 1_000), boot: BootTime(nanoseconds: 9))

    private func text(_ report: LinkReport) -> String {
        var writer = JSONWriter()
        writer.link(report, source: .daemon, at: moment)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func text(_ explanation: Explanation) -> String {
        var writer = JSONWriter()
        writer.explanation(explanation, source: .daemon, at: moment)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func `a written link is read with everything that is printed of it`() throws {
        var random = SeededGenerator(seed: 23)
        for _ in 0..<2000 {
            let report = random.report()
            let read = try LinkReport(reading: try JSONReader.read(Array(text(report).utf8)))
            #expect(text(read) == text(report))
            #expect(read.isBackground == report.isBackground)
            #expect(read.addresses.map(\.isPreferred) == report.addresses.map(\.isPreferred))
            #expect(read.link.isUsable == report.link.isUsable)
        }
    }

    @Test(.enabled(if: SchemaCheck.isAvailable, "\(SchemaCheck.whyNot)"))
    func `links are as the schema says, and every key of the schema occurs`() throws {
        var random = SeededGenerator(seed: 27)
        let lines = (0..<200).map { _ in text(random.report()) }
        var schema = JSONWriter()
        LineSchema().write(.links, to: &schema)
        let faults = try SchemaCheck.faults(
            in: lines, by: String(decoding: schema.bytes, as: UTF8.self), hasEveryKey: true)
        #expect(faults == [])
    }

    @Test func `a written explanation is read as the same`() throws {
        var random = SeededGenerator(seed: 24)
        for _ in 0..<500 {
            let explanation = random.explanation()
            #expect(try Explanation(reading: try JSONReader.read(Array(text(explanation).utf8))) == explanation)
        }
    }

    @Test(arguments: [
        ("ifindex", JSONValue?.none, "ifindex"), ("interface", .integer(1), "interface"), ("class", nil, "class"),
        ("addresses", .integer(1), "addresses"), ("addresses", .array([.integer(1)]), "addresses"),
        ("internet", nil, "internet"), ("internet", .object(["ipv4": .bool(true)]), "internet.ipv6"),
        ("mtu", .integer(-1), "mtu"),
    ])
    func `a wrong member of a link is an error that names it`(key: String, value: JSONValue?, fault: String) throws {
        var random = SeededGenerator(seed: 25)
        var members = try #require(try JSONReader.read(Array(text(random.report()).utf8)).object)
        members[key] = value
        let json = JSONValue.object(members)
        #expect(throws: StatusReadingError(key: fault)) { try LinkReport(reading: json) }
    }

    @Test func `a client gets the service's links and explanations`() throws {
        let server = try TestServer()
        var random = SeededGenerator(seed: 26)
        let reports = (0..<50).map { _ in random.report() }
        server.run { service, _ in service.links = reports }
        var client = try ControlClient(path: server.path)
        #expect(try client.links().map(text) == reports.map(text))
        let explanation = try client.explanation(of: try Target("192.0.2.1"))
        #expect(explanation.target.description == "192.0.2.1")
        #expect(explanation.ipv4.steps == [Explanation.Step(.route, .good, "There is a \"route\".")])
        do throws(ControlError) {
            guard let target = try? Target("blind.example") else { return }
            _ = try client.explanation(of: target)
            Issue.record("no error")
        } catch {
            #expect(error.monitorError == .cannotObserve(reason: "netlink is gone"))
        }
    }

    @Test func `more links than fit in a message are an error, and the connection stays open`() throws {
        let server = try TestServer()
        var random = SeededGenerator(seed: 27)
        let reports = (0..<4000).map { _ in random.report() }
        server.run { service, _ in service.links = reports }
        var client = try ControlClient(path: server.path)
        do throws(ControlError) {
            _ = try client.links()
            Issue.record("no error")
        } catch {
            guard case .notAvailable? = error.monitorError else {
                Issue.record("\(error)")
                return
            }
        }
        #expect(try client.status(of: .internet).isReachable)
    }

    @Test func `answers that clients do not read count for their user, and close connections over the limit`() throws {
        var limits = ControlLimits()
        limits.unfinishedBytesPerUser = 2 << 20
        let server = try TestServer(limits: limits)
        var random = SeededGenerator(seed: 28)
        let reports = (0..<800).map { _ in random.report() }
        server.run { service, _ in service.links = reports }
        let clients = try (0..<20).map { _ in try RawClient(server.path) }
        for client in clients { client.send(#"{"method":"io.reach.Monitor.Links"}"#) }
        #expect(server.wait { $0.connections < 12 && $0.connections > 1 })
    }
}

extension SeededGenerator {
    fileprivate mutating func report() -> LinkReport {
        var link = Link(index: Int32.random(in: 1...Int32.max, using: &self), name: pick(["eth0", "w\"l", "\u{1b}é"]))
        link.alternativeNames = oneIn(2) ? [] : ["uplink", "b"]
        if oneIn(2) { link.flags.insert(.up) }
        if oneIn(2) { link.flags.formUnion([.up, .running, .lowerUp]) }
        link.operationalState =
            oneIn(4) ? nil : pick([.unknown, .notPresent, .down, .lowerLayerDown, .testing, .dormant, .up])
        link.kind = oneIn(2) ? nil : "vlan"
        link.mtu = UInt32.random(in: 0...70_000, using: &self)
        var proof = LinkReport.Proof(
            .full, checked: Timestamp(nanosecondsSince1970: 1_000_000_000), roundTrip: .microseconds(1234))
        proof.reason = oneIn(2) ? .nameNotResolved : nil
        proof.quality =
            oneIn(2) ? nil : LineQuality(.slow, lossPermille: 0, roundTrip: .seconds(1), jitter: nil, packets: 9)
        var report = LinkReport(
            link, linkClass: pick(LinkClass.allCases), controller: oneIn(2) ? nil : "br0",
            lower: oneIn(2) ? [] : ["a", "b"],
            trouble: oneIn(2) ? nil : pick(Reason.allCases), brokenLower: oneIn(2) ? nil : "a", isMetered: oneIn(2),
            addresses: (0..<Int.random(in: 0...3, using: &self)).map { _ in address(of: link.index) },
            carriesInternet: Set([IPAddress.Family.ipv4, .ipv6].filter { _ in oneIn(2) }))
        report.meteredReason = oneIn(2) ? pick(MeteredReason.allCases) : nil
        report.network = oneIn(2) ? "office" : nil
        report.isTrusted = report.network != nil && oneIn(2)
        report.wireless = oneIn(2) ? wireless() : nil
        if oneIn(2) { (report.proof, report.traffic) = (proof, LinkReport.Traffic(received: 7, sent: 8)) }
        return report
    }

    private mutating func wireless() -> WirelessLink {
        let name = SSID(
            (0..<Int.random(in: 1...32, using: &self)).map { _ in UInt8.random(in: 1 ... .max, using: &self) })
        let address = HardwareAddress("02:00:00:00:00:01")
        var link = WirelessLink(
            network: WirelessNetwork(ssid: oneIn(4) ? nil : name, bssid: oneIn(4) ? nil : address))
        link.frequency = oneIn(2) ? nil : 5180
        link.signal = oneIn(2) ? nil : Int8.random(in: .min ... .max, using: &self)
        link.sendRate = oneIn(2) ? nil : UInt64.random(in: 0...10_000_000, using: &self)
        link.receiveRate = oneIn(2) ? nil : 1000
        link.security = oneIn(2) ? nil : pick(WirelessSecurity.allCases)
        return link
    }

    private mutating func address(of interface: InterfaceIndex) -> InterfaceAddress {
        let address = oneIn(3) ? IPAddress(ipv6: 0, 1) : IPAddress(ipv4: UInt32.random(in: 1 ... .max, using: &self))
        return InterfaceAddress(
            interface: interface, address: address, prefixLength: UInt8.random(in: 0...128, using: &self),
            scope: pick([0, 253, 254]),
            flags: InterfaceAddress.Flags(rawValue: UInt32.random(in: 0...0xff, using: &self)))
    }

    fileprivate mutating func explanation() -> Explanation {
        func family(_ self: inout SeededGenerator) -> Explanation.Family {
            let reason = self.oneIn(2) ? nil : self.pick(Reason.allCases)
            let steps = (0..<Int.random(in: 0...4, using: &self)).map { _ in
                Explanation.Step(
                    self.pick(Explanation.Step.Subject.allCases), self.pick(Explanation.Step.Finding.allCases),
                    self.pick(["", "It is \"so\".", "é\n"]))
            }
            return Explanation.Family(
                path: NetworkPath(status: self.pick(ReachabilityStatus.allCases), reason: reason), steps: steps)
        }
        let (ipv4, ipv6) = (family(&self), family(&self))
        var verdict = Verdict(ipv4: ipv4.path, ipv6: ipv6.path)
        verdict.linkClass = oneIn(2) ? nil : pick(LinkClass.allCases)
        verdict.interface = oneIn(2) ? nil : "eth0"
        verdict.isMetered = oneIn(2)
        return Explanation(target: .internet, verdict: verdict, ipv4: ipv4, ipv6: ipv6)
    }
}
