import ReachCore
import Testing

@testable import ReachProbe

/// When a portal's API is asked, and what its answers mean for the paths behind it.
@Suite struct PortalMachineTests {
    private static let api = "https://portal.example.net/api"

    private func route(_ family: IPAddress.Family = .ipv4, portal: String? = api, gateway: String = "192.0.2.1")
        -> DefaultRoute
    {
        var route = DefaultRoute.sample(family, gateway: gateway)
        route.portalURI = portal
        return route
    }

    private func answer(
        captive: Bool, seconds: Int64? = nil, fresh: Duration = .zero
    ) -> Result<PortalAnswer, PortalTrouble> {
        var answer = PortalAnswer(isCaptive: captive)
        answer.userPortalURL = "https://login.example/"
        answer.secondsRemaining = seconds
        answer.freshTime = fresh
        return .success(answer)
    }

    private func bench(
        _ portal: Result<PortalAnswer, PortalTrouble>?, paths: ValidationResult? = .full, isSecure: Bool = true
    ) -> ValidationBench {
        var bench = ValidationBench()
        bench.portal = portal
        bench.answer = paths
        bench.isSecure = isSecure
        bench.update([route()])
        return bench
    }

    @Test func `a watch that is looked at too early asks nothing, and still warns of the session's end`() throws {
        let api = try #require(ConnectivityEndpoint(Self.api))
        func at(_ seconds: Int64) -> BootTime { BootTime(nanoseconds: seconds * 1_000_000_000) }
        var watch = PortalWatch(api, [route()], PortalPace(), at: at(0))
        #expect(watch.timeReached(at: at(0), ticket: 1, allowed: at(0)) == .askPortal(route(), api, 1))
        // The answer is fresh beyond the warning, which comes 300 s before the end.
        let open = answer(captive: false, seconds: 400, fresh: .seconds(600))
        #expect(watch.answered(1, open, at: at(0)) { $0 } == false && watch.deadline == at(100))
        #expect(watch.timeReached(at: at(50), ticket: 2, allowed: at(50)) == nil && watch.deadline == at(100))
        #expect(watch.session?.isEnding == false)
        #expect(watch.timeReached(at: at(100), ticket: 2, allowed: at(100)) == nil)
        #expect(watch.session?.isEnding == true && watch.deadline == at(600))
        #expect(watch.timeReached(at: at(600), ticket: 2, allowed: at(700)) == nil && watch.deadline == at(700))
        #expect(watch.timeReached(at: at(700), ticket: 2, allowed: at(700)) == .askPortal(route(), api, 2))
        #expect(watch.openTicket == 2 && watch.deadline == nil)
    }

    @Test func `without an announcement nothing is asked`() {
        var bench = ValidationBench()
        bench.update([.sample()])
        bench.pass(.seconds(4000))
        #expect(bench.questions == [])
        #expect(bench.machine.survey.internet.session == nil)
    }

    @Test func `a portal that says captive closes the path before any check has ended`() {
        let bench = bench(answer(captive: true), paths: nil)
        #expect(bench.questions == [0])
        #expect(bench.connectivity == .portal)
        #expect(bench.machine.survey.internet.portal == "https://login.example/")
        #expect(bench.machine.survey.interfaces["eth0"]?.combined == .portal)
        #expect(bench.machine.survey.internet.session?.isCaptive == true)
    }

    @Test func `captive closes the path where the endpoints are silent, or only HTTP gives the proof`() {
        #expect(bench(answer(captive: true), paths: .limited(.noAnswer)).connectivity == .portal)
        #expect(bench(answer(captive: true), isSecure: false).connectivity == .portal)
    }

    @Test func `a lying API never turns an Internet that HTTPS proved into a portal's`() {
        var bench = bench(answer(captive: false))
        #expect(bench.connectivity == .full)
        bench.portal = answer(captive: true)
        bench.restart()
        #expect(bench.connectivity == .full)
        bench.pass(.seconds(1000))
        #expect(bench.connectivity == .full)
        #expect(bench.machine.survey.internet.session?.isCaptive == true)
    }

    @Test func `when the portal closes, one check that fails is enough`() {
        var bench = bench(answer(captive: false, seconds: 400))
        #expect(bench.connectivity == .full)
        bench.answer = .limited(.noAnswer)
        bench.portal = answer(captive: true)
        bench.forget()
        bench.pass(.seconds(100))
        #expect(bench.questions.first == 100)
        #expect(bench.probes.first == 100)
        #expect(bench.connectivity == .portal)
    }

    @Test func `captive false proves nothing, but leads to a check at once`() {
        var bench = bench(answer(captive: true), paths: .limited(.noAnswer))
        #expect(bench.connectivity == .portal)
        bench.pass(.seconds(400))
        bench.portal = answer(captive: false)
        bench.forget()
        bench.pass(.seconds(300))
        let freed = bench.questions[0]
        #expect(bench.probes.contains(freed))
        #expect(bench.connectivity == .limited)
        bench.answer = .full
        bench.pass(.seconds(300))
        #expect(bench.connectivity == .full)
    }

    @Test func `a portal that opens is noticed by its API, though HTTP always gave the proof`() {
        var bench = bench(answer(captive: true), isSecure: false)
        bench.forget()
        bench.pass(.seconds(60))
        #expect(bench.questions == [5, 15, 35])
        bench.portal = answer(captive: false)
        bench.pass(.seconds(60))
        #expect(bench.connectivity == .full)
    }

    @Test func `an API that does not answer changes nothing, and is asked more and more rarely`() {
        var bench = bench(.failure(.noAnswer))
        #expect(bench.connectivity == .full)
        bench.pass(.seconds(100))
        #expect(bench.questions == [0, 2, 6, 14, 30, 62])
        bench.pass(.seconds(100_000))
        #expect(bench.questions.count < 45)
        #expect(bench.connectivity == .full)
        #expect(bench.machine.survey.internet.portalTrouble?.contains("does not answer") == true)
    }

    @Test func `after three failures what the API said before no longer counts`() {
        var bench = bench(answer(captive: true), isSecure: false)
        bench.portal = .failure(.certificate)
        bench.pass(.seconds(8))
        #expect(bench.connectivity == .portal)
        bench.pass(.seconds(10))
        #expect(bench.connectivity == .full)
        #expect(bench.machine.survey.internet.session == nil)
    }

    @Test func `a session that is about to end is reported once, after the API was asked again`() {
        var bench = bench(answer(captive: false, seconds: 3600))
        #expect(bench.machine.survey.internet.session?.isEnding == false)
        bench.portal = answer(captive: false, seconds: 300)
        bench.pass(.seconds(3299))
        #expect(bench.questions == [0])
        bench.pass(.seconds(1))
        #expect(bench.questions == [0, 3300])
        #expect(bench.machine.survey.internet.session?.isEnding == true)
        bench.portal = answer(captive: true)
        bench.pass(.seconds(302))
        #expect(bench.questions[2] == 3601)
    }

    @Test func `a session that was extended is not about to end`() {
        var bench = bench(answer(captive: false, seconds: 3600))
        bench.portal = answer(captive: false, seconds: 7200)
        bench.pass(.seconds(3400))
        #expect(bench.questions == [0, 3300])
        #expect(bench.machine.survey.internet.session?.isEnding == false)
    }

    @Test func `the end is known by the clock, though the API is gone or its answer still fresh`() {
        var gone = bench(answer(captive: false, seconds: 3600))
        gone.portal = .failure(.noAnswer)
        gone.pass(.seconds(3301))
        #expect(gone.machine.survey.internet.session?.isEnding == true)
        var fresh = bench(answer(captive: false, seconds: 400, fresh: .seconds(500)))
        fresh.pass(.seconds(101))
        #expect(fresh.questions == [0])
        #expect(fresh.machine.survey.internet.session?.isEnding == true)
        fresh.pass(.seconds(400))
        #expect(fresh.questions.dropFirst().first == 500)
    }

    @Test func `a session without an end sets no timer`() {
        var bench = bench(answer(captive: false))
        bench.pass(.seconds(250))
        #expect(bench.questions == [0])
        #expect(bench.machine.deadline.map { $0 > bench.start + .seconds(270) } == true, "only the next check")
    }

    @Test func `a fresh answer is not asked for again, whatever checks find`() {
        var bench = bench(answer(captive: true, fresh: .seconds(60)), paths: .limited(.noAnswer))
        bench.pass(.seconds(59))
        #expect(bench.questions == [0])
        bench.pass(.seconds(1))
        #expect(bench.questions.count == 2)
    }

    @Test func `a check that fails asks the API again, at most every five seconds`() {
        var bench = bench(answer(captive: false), paths: .limited(.noAnswer))
        bench.pass(.seconds(20))
        #expect(bench.questions.count > 1)
        #expect(zip(bench.questions, bench.questions.dropFirst()).allSatisfy { $1 - $0 >= 5 })
    }

    @Test func `a portal is forgotten with its network, its announcement and its gateway`() {
        for routes in [[], [route(portal: nil)], [route(portal: "urn:ietf:params:capport:unrestricted")]] {
            var bench = bench(answer(captive: true), isSecure: false)
            bench.update(routes)
            #expect(bench.machine.survey.internet.session == nil)
            #expect(bench.connectivity != .portal)
        }
        var bench = bench(answer(captive: true), isSecure: false)
        bench.portal = nil
        bench.update([route(gateway: "192.0.2.3")])
        #expect(bench.machine.survey.internet.session == nil)
        bench.pass(.seconds(5))
        #expect(bench.questions == [0, 5])
    }

    @Test func `a link that returns begins again: with no lease, and with a question at once`() {
        var bench = bench(answer(captive: false))
        bench.update([])
        bench.update([route()])
        #expect(bench.questions == [0, 0])
        bench.update([.sample()])
        bench.setLease(Self.api)
        bench.update([])
        bench.forget()
        bench.update([.sample()])
        bench.pass(.seconds(60))
        #expect(bench.questions.isEmpty)
    }

    @Test func `a question about a network that is gone is cancelled, and its late answer ignored`() throws {
        var bench = bench(nil)
        let ticket = try #require(bench.open.first)
        bench.update([.sample()])
        #expect(bench.cancelled == [ticket])
        bench.answerPortal(ticket, answer(captive: true))
        #expect(bench.connectivity == .full)
    }

    @Test func `a lease precedes a router, unless it names nothing that can be asked`() {
        var bench = bench(answer(captive: true), isSecure: false)
        bench.setLease("urn:ietf:params:capport:unrestricted")
        #expect(bench.connectivity == .full)
        bench.setLease("http://portal.example.net/")
        bench.pass(.seconds(5))
        #expect(bench.connectivity == .portal)
        bench.setLease(nil)
        bench.update([route(portal: "http://portal.example.net/")])
        #expect(bench.connectivity == .full)
        #expect(bench.machine.survey.internet.portalTrouble?.contains("by http") == true)
    }

    @Test func `an API is asked by the other family when the first gives no answer`() {
        var bench = ValidationBench()
        bench.portal = .failure(.noAnswer)
        bench.update([route(), route(.ipv6, gateway: "fe80::1")])
        bench.pass(.seconds(3))
        #expect(bench.asked.map(\.key.family) == [.ipv4, .ipv6])
    }

    @Test func `an end that is always near has the API asked more and more rarely`() {
        for seconds: Int64 in [0, 1, 3, 303] {
            var bench = bench(answer(captive: false, seconds: seconds))
            bench.pass(.seconds(1000))
            #expect(bench.questions.count <= 10, "\(seconds): \(bench.questions)")
        }
    }

    @Test func `APIs that are announced one after the other are asked more and more rarely`() {
        var bench = bench(answer(captive: false))
        for number in 0..<600 {
            // Without an announcement in between the pace stays, too.
            if number % 7 == 0 { bench.update([route(portal: nil)]) }
            bench.update([route(portal: "https://\(number).example.net/")])
            bench.pass(.seconds(1))
        }
        #expect((3...10).contains(bench.questions.count), "\(bench.questions)")
        // Another network begins without it.
        bench.update([])
        bench.forget()
        bench.update([route()])
        #expect(bench.questions == [bench.seconds])
    }

    @Test func `a portal that closes and opens all the time does not have the paths checked each time`() throws {
        guard case .api(let api) = PortalURI(Self.api) else { return #expect(Bool(false)) }
        var now = BootTime(nanoseconds: 1_000_000_000)
        var watch = PortalWatch(api, [route()], PortalPace(), at: now)
        var checks = 0
        for _ in 0..<1000 {
            if watch.turn(at: now) { checks += 1 }
            now = now + .seconds(6)
        }
        #expect((5...12).contains(checks), "\(checks)")
        now = now + .seconds(4000)
        #expect(watch.turn(at: now) && watch.turn(at: now + .seconds(6)))
    }

    @Test func `questions count among the bytes of a metered link`() {
        var options = ValidationOptions()
        options.meteredBytesPerDay = 50_000
        var bench = ValidationBench(options)
        bench.bytes = 5000
        bench.portal = answer(captive: true)
        bench.answer = .limited(.noAnswer)
        var metered = DefaultRoute.sample(isMetered: true)
        metered.portalURI = Self.api
        bench.update([metered])
        bench.pass(.seconds(86_400))
        #expect(bench.questions.count + bench.probes.count <= 25, "\(bench.questions.count) and \(bench.probes.count)")
    }

    @Test func `after a portal has opened or gone, a proof by HTTP counts only by another check`() {
        for gone in [false, true] {
            var bench = bench(answer(captive: true), isSecure: false)
            bench.answer = nil
            bench.portal = answer(captive: false)
            if gone { bench.update([route(portal: nil)]) } else { bench.pass(.seconds(6)) }
            #expect(bench.connectivity == .unknown, "\(gone)")
            bench.answer = .full
            bench.reply(.full, to: bench.open.last ?? 0)
            #expect(bench.connectivity == .full, "\(gone)")
        }
    }

    @Test func `whoever has logged in is noticed as soon as a request is answered`() {
        var bench = bench(answer(captive: true), isSecure: false)
        bench.pass(.seconds(100))
        bench.portal = answer(captive: false)
        bench.forget()
        bench.noteAnswer()
        #expect(bench.questions == [100])
        #expect(bench.connectivity == .full)
        // An API that lies is not asked for each answer.
        bench = self.bench(answer(captive: true))
        bench.pass(.seconds(100))
        bench.forget()
        for _ in 0..<100 {
            bench.noteAnswer()
            bench.pass(.milliseconds(100))
        }
        #expect(bench.questions == [])
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("169.254.169.254", true), ("0.0.0.0", true), ("224.0.0.1", true), ("192.0.2.2", true),
        ("192.0.2.1", false), ("10.0.0.1", false), ("::1", true), ("fe80::1", true), ("ff02::1", true),
        ("2001:db8::1", false), ("::ffff:127.0.0.1", true),
    ])
    func `no API is asked at an address of this machine or of the link alone`(text: String, isRefused: Bool) throws {
        var route = route()
        route.addresses = [
            InterfaceAddress(interface: 2, address: try #require(IPAddress("192.0.2.2")), prefixLength: 24)
        ]
        #expect(EndpointAttempt.isOfThisMachineOrLink(try #require(IPAddress(text)), route) == isRefused)
    }

    @Test func `a refused announcement that is gone is not spoken of any more`() {
        var bench = ValidationBench()
        bench.update([route(portal: "http://portal.example.net/")])
        #expect(bench.machine.survey.internet.portalTrouble != nil)
        bench.update([route(portal: nil)])
        #expect(bench.machine.survey.internet.portalTrouble == nil)
    }

    @Test func `where the configuration forbids it, no API is asked`() {
        var options = ValidationOptions()
        options.asksPortals = false
        var bench = ValidationBench(options)
        bench.portal = answer(captive: true)
        bench.update([route()])
        bench.setLease(Self.api)
        #expect(bench.questions == [])
        #expect(bench.connectivity == .full)
    }
}
