import ReachCore
import ReachProbe
import ReachTesting
import Testing

/// The state of one path by definition: computed from all answers, slowly and simply.
private struct PathModel {
    let route: DefaultRoute
    /// Conclusive answers in order; `nil` marks a change of the network, after which the next is believed at once.
    var answers: [ValidationResult?] = [nil]
    /// The times of the answers.
    var times: [BootTime] = [BootTime(nanoseconds: 0)]

    mutating func add(_ answer: ValidationResult?, at time: BootTime) {
        answers.append(answer)
        times.append(time)
    }

    func believed(_ options: ValidationOptions) -> Connectivity {
        var believed = Connectivity.unknown
        var (returned, relapses): (BootTime?, Int) = (nil, 0)
        for place in answers.indices {
            guard let answer = answers[place] else {
                (returned, relapses) = (nil, 0)
                continue
            }
            let run = answers[...place].reversed().prefix { $0 != nil }.compactMap { $0 }
            let proofs = run.prefix { $0 == .full }.count
            let strikes = run.prefix { $0 != .full }.count
            let isFirst = run.count == 1
            if answer == .full {
                guard isFirst || proofs >= options.strikesToPromote + min(relapses, ValidationOptions.mostExtraProofs)
                else { continue }
                if [.limited, .portal].contains(believed) { returned = times[place] }
                believed = .full
            } else if isFirst || believed != .full || strikes >= options.strikesToDemote {
                if believed == .full {
                    let lasted = returned.map { times[place] - $0 } ?? ValidationOptions.shortReturn
                    (returned, relapses) = (nil, lasted < ValidationOptions.shortReturn ? relapses + 1 : 0)
                }
                believed = answer.connectivity ?? believed
            }
        }
        return believed
    }
}

/// A random walk of a machine, compared with the model after each step.
private struct Walk {
    var machine: ValidationMachine
    let options: ValidationOptions
    var chance: SeededGenerator
    var now = BootTime(nanoseconds: 1_000_000_000)
    var models: [DefaultRoute.Key: PathModel] = [:]
    var probes: [ValidationCommand.Ticket: DefaultRoute.Key] = [:]
    var samples: [ValidationCommand.Ticket: DefaultRoute.Key] = [:]
    /// The failed checks for which a traffic sample decides whether they count.
    var weighed: [ValidationCommand.Ticket: ValidationResult] = [:]
    var ended: [ValidationCommand.Ticket] = []
    var lastProbe: [DefaultRoute.Key: BootTime] = [:]
    var checks = 0

    init(seed: UInt64) {
        var chance = SeededGenerator(seed: seed)
        var options = ValidationOptions()
        options.strikesToDemote = .random(in: 1...4, using: &chance)
        options.strikesToPromote = .random(in: 1...3, using: &chance)
        options.interval = .seconds([10, 60, 300].randomElement(using: &chance) ?? 300)
        options.meteredBytesPerDay = 0
        self.options = options
        self.chance = chance
        machine = ValidationMachine(options: options, draw: { 0.5 })
    }

    mutating func step() {
        switch Int.random(in: 0..<20, using: &chance) {
        case 0: changePaths()
        case 1: restart()
        case 2: carryOut(machine.doubt(at: now))
        case 3...8: answer()
        case 9, 10: answerEndedTicket()
        default: pass()
        }
        compare()
    }

    private mutating func changePaths() {
        guard !chance.oneIn(8) else {
            (models, lastProbe) = ([:], [:])
            return carryOut(machine.update(routes: chance.oneIn(2) ? [] : nil, at: now))
        }
        var routes: [DefaultRoute] = []
        for interface in InterfaceIndex(2)...4 {
            for family in IPAddress.Family.allCases where !chance.oneIn(4) {
                let prefix = family == .ipv4 ? "192.0.2." : "2001:db8::"
                routes.append(
                    .sample(
                        family, interface: interface, gateway: prefix + "1\(chance.oneIn(6) ? 1 : 0)",
                        source: prefix + "2\(chance.oneIn(6) ? 1 : 0)",
                        neighbour: chance.oneIn(3) ? .failed : .reachable, isPreferred: interface == 2))
            }
        }
        var fresh: [DefaultRoute.Key: PathModel] = [:]
        for route in routes {
            var model = models[route.key] ?? PathModel(route: route)
            if model.route.gateway != route.gateway {
                model = PathModel(route: route)
            } else if model.route.source != route.source {
                model.add(nil, at: now)
            }
            fresh[route.key] = PathModel(route: route, answers: model.answers, times: model.times)
        }
        models = fresh
        lastProbe = [:]
        carryOut(machine.update(routes: routes, at: now))
    }

    private mutating func restart() {
        for key in models.keys { models[key]?.add(nil, at: now) }
        lastProbe = [:]
        carryOut(machine.restart(at: now))
    }

    private mutating func answer() {
        if let (ticket, key) = probes.sorted(by: { $0.key < $1.key }).randomElement(using: &chance) {
            let results: [ValidationResult] = [
                .full, .full, .limited(.noAnswer), .portal(url: "http://x/"), .inconclusive,
            ]
            let result = results.randomElement(using: &chance) ?? .full
            probes[ticket] = nil
            let commands = machine.probed(ticket, result, bytes: nil, at: now)
            if case .sampleTraffic(_, _, let sample)? = commands.first {
                #expect(result == .limited(.noAnswer), "only lost packets are weighed")
                weighed[sample] = result
            } else if result != .inconclusive {
                models[key]?.add(result, at: now)
            }
            carryOut(commands)
            ended.append(ticket)
        } else if let ticket = samples.keys.sorted().randomElement(using: &chance) {
            let key = samples.removeValue(forKey: ticket)
            let sawTraffic = chance.oneIn(2)
            if let key, let result = weighed.removeValue(forKey: ticket), !sawTraffic {
                models[key]?.add(result, at: now)
            }
            carryOut(machine.sampled(ticket, sawTraffic: sawTraffic, at: now))
            ended.append(ticket)
        }
    }

    /// Answers that come too late, or twice, change nothing.
    private mutating func answerEndedTicket() {
        guard let ticket = ended.randomElement(using: &chance) else { return }
        let before = machine.survey
        carryOut(machine.probed(ticket, .portal(url: "http://late.example/"), bytes: 1, at: now))
        carryOut(machine.sampled(ticket, sawTraffic: true, at: now))
        #expect(machine.survey == before)
    }

    private mutating func pass() {
        let patience = Duration.milliseconds(Int.random(in: 0...20_000, using: &chance))
        if let deadline = machine.deadline, deadline <= now + patience {
            now = max(now, deadline)
        } else {
            now = now + patience
        }
        carryOut(machine.timeReached(at: now))
    }

    private mutating func carryOut(_ commands: [ValidationCommand]) {
        for command in commands {
            switch command {
            case .probe(let route, let ticket):
                checks += 1
                #expect(!probes.values.contains(route.key), "two checks of a path at a time")
                #expect(!samples.values.contains(route.key), "a check and a sample of a path at a time")
                if let last = lastProbe[route.key] {
                    #expect(now - last >= ValidationOptions.extraProofGap, "checks follow too closely")
                }
                lastProbe[route.key] = now
                probes[ticket] = route.key
            case .sampleTraffic(let route, _, let ticket):
                #expect(!probes.values.contains(route.key) && !samples.values.contains(route.key))
                samples[ticket] = route.key
            case .askPortal: Issue.record("no network of the model announces a portal")
            case .cancel(let ticket):
                #expect(probes.removeValue(forKey: ticket) != nil || samples.removeValue(forKey: ticket) != nil)
                ended.append(ticket)
            }
        }
    }

    private func compare() {
        let survey = machine.survey
        var busy = Set(probes.values)
        busy.formUnion(samples.values)
        #expect(busy.isSubset(of: models.keys), "a command runs for a path that is gone")
        if models.keys.contains(where: { !busy.contains($0) }) {
            #expect(machine.deadline != nil, "a path is forgotten")
        }
        for (key, model) in models {
            let report = survey.interfaces[model.route.name] ?? ConnectivityReport()
            #expect(report[key.family] == model.believed(options))
            #expect((report.portal != nil) == [report.ipv4, report.ipv6].contains(.portal))
        }
    }
}

@Suite struct ValidationModelTests {
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `in random histories the state follows from the answers as the model defines it`(seed: UInt64) {
        var walk = Walk(seed: seed)
        for _ in 0..<1000 { walk.step() }
        #expect(walk.checks > 80)
    }
}
