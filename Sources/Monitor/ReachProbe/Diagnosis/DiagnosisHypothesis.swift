internal import ReachCore
internal import ReachRecords

/// An explanation of a silence or an error: who is at fault, what it needs, what it predicts, what rules it out, and
/// its sentence.
///
/// Of those that no fact rules out the one is taken that explains most. If two of different parties explain as much,
/// the party is undecided. The switch below is the table.
enum DiagnosisHypothesis: String, CaseIterable, Hashable, Sendable {
    // This machine
    case ownOutput = "own-output"
    case ownRefusal = "own-refusal"
    case ownInput = "own-input"
    case reversePath = "reverse-path"
    case wrongGateway = "wrong-gateway"
    case missingAuthority = "missing-authority"
    case shortLife = "short-life"
    case wrongEntry = "wrong-entry"
    // The local network
    case twin
    case localFilter = "local-filter"
    case localForbids = "local-forbids"
    case interception
    case localAddresses = "local-addresses"
    case oldAddress = "old-address"
    case formerNetwork = "former-network"
    case rogueRouter = "rogue-router"
    // The provider
    case bareLinkDark = "bare-link-dark"
    case dark
    case loop
    case cutOff = "cut-off"
    case noRoute = "no-route"
    case lineLost = "line-lost"
    case peerSilent = "peer-silent"
    case translatorDead = "translator-dead"
    case providerFilter = "provider-filter"
    case providerForbids = "provider-forbids"
    // The host itself
    case off
    case silent
    case filtered
    case refuses
    case forbids
    case badCertificate = "bad-certificate"

    struct Rule: Sendable {
        let party: Diagnosis.Party
        let layer: OutageLayer
        let subject: Diagnosis.Subject
        /// One of these must have been observed.
        let needs: Set<DiagnosisFact>
        /// What it predicts. Its needs are among it.
        let explains: Set<DiagnosisFact>
        /// What cannot be observed if it holds.
        let excludes: Set<DiagnosisFact>
        let clause: @Sendable (DiagnosisScene) -> Clause

        init(
            _ party: Diagnosis.Party, _ layer: OutageLayer, _ subject: Diagnosis.Subject, needs: Set<DiagnosisFact>,
            explains: Set<DiagnosisFact>, excludes: Set<DiagnosisFact>,
            says clause: @escaping @Sendable (DiagnosisScene) -> Clause
        ) {
            self.party = party
            self.layer = layer
            self.subject = subject
            self.needs = needs
            self.explains = explains.union(needs)
            self.excludes = excludes
            self.clause = clause
        }
    }

    /// The silence of all.
    private static let silence: Set<DiagnosisFact> = [.hostSilent, .othersSilent, .silentToEcho, .translatorSilent]

    /// The silence of all, and of what is known to work.
    private static let darkness = silence.union([.hostAnswersInOtherFamily, .standsForInternet])

    private static let table = Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.row) })

    var rule: Rule { Self.table[self] ?? row }

    // The party `server` stands for the owner of the host in question: a server, a name server or a proxy.
    // swift-format-ignore
    private var row: Rule {
        switch self {
        case .ownOutput: Rule(.thisMachine, .route, .connect,
            needs: [.notSent], explains: Self.silence, excludes: [],
            says: { scene in
                scene.facts.isForbiddenHere
                    ? "a firewall of this machine forbids packets to \(scene.shown)" : scene.said(.notSent)
            })
        case .ownRefusal: Rule(.thisMachine, .route, .connect,
            needs: [.refusedHere, .ownUnheard],
            explains: [.hostRefuses, .refusedEverywhere, .passesGateway, .bareLink],
            excludes: [],
            says: { "a firewall of this machine rejects connections to \($0.shown)" })
        case .ownInput: Rule(.thisMachine, .route, .connect,
            needs: [.droppedHere, .ownUnheard],
            explains: Self.darkness.union([.tcpSilentEverywhere, .portSilentEverywhere, .gatewayMute, .bareLink, .hostAnswers]),
            excludes: [],
            says: { scene in
                scene.hasObserved(.droppedHere)
                    ? "packets come in, and this machine drops them before any program sees them: its firewall drops the answers"
                    : "this machine drops the answers"
            })
        case .reversePath: Rule(.thisMachine, .route, .route,
            needs: [.droppedByReversePath],
            explains: Self.darkness.union([.gatewayMute]),
            excludes: [.othersAnswer, .hostAnswers],
            says: { _ in
                "answers come in by another interface than packets leave by, and the kernel drops them (rp_filter)"
            })
        case .wrongGateway: Rule(.thisMachine, .route, .gateway,
            needs: [.neighbourServes, .neighbourForwards], explains: Self.darkness.union([.gatewayMute]),
            excludes: [.othersAnswer, .hostAnswers, .routersAnswer, .twoGateways, .bareLink],
            says: { "the default route leads to\($0.gateway), which passes nothing on\($0.otherForwarder ?? "")" })
        case .missingAuthority: Rule(.thisMachine, .target, .tls,
            needs: [.untrustedElsewhere],
            explains: [.untrustedHere, .otherIssuer],
            excludes: [.trustedElsewhere, .sameIssuer],
            says: DiagnosisScene.untrusted)
        case .shortLife: Rule(.thisMachine, .route, .route,
            needs: [.shortLife],
            explains: Self.darkness.union([.routersAnswer]),
            excludes: [.othersAnswer, .translatorAnswers, .hostAnswers],
            says: { $0.said(.shortLife) })
        case .wrongEntry: Rule(.thisMachine, .gateway, .gateway,
            needs: [.entryContradicted],
            explains: Self.darkness.union([.gatewayMute]),
            excludes: [.othersAnswer, .hostAnswers, .routersAnswer],
            says: { $0.said(.entryContradicted) })
        case .twin: Rule(.localNetwork, .address, .gateway,
            needs: [.twoGateways, .twinHere],
            explains: Self.darkness.union([.gatewayMute, .neighbourServes, .otherRouterForwards, .routerDiffers]),
            excludes: [],
            says: { $0.said(.twoGateways, .twinHere) })
        case .localFilter: Rule(.localNetwork, .internet, .internet,
            needs: [.tcpSilentEverywhere, .portSilentEverywhere, .refusedEverywhere, .portUnheard],
            explains: [.hostRefuses, .hostSilent, .hostAnswers],
            excludes: [.portAnswersElsewhere, .passesGateway, .refusedHere],
            says: { "the local network \($0.filtered)" })
        case .localForbids: Rule(.localNetwork, .internet, .internet,
            needs: [.gatewayForbids], explains: [.hostSilent, .othersSilent], excludes: [],
            says: { $0.said(.gatewayForbids) })
        case .interception: Rule(.localNetwork, .target, .tls,
            needs: [.untrustedElsewhere, .trustUnheard],
            explains: [.untrustedHere, .sameIssuer],
            excludes: [.trustedElsewhere, .otherIssuer],
            says: DiagnosisScene.untrusted)
        // Without a way back nothing is heard either; a gateway may translate the addresses, though, and all may be
        // dark.
        case .localAddresses: Rule(.localNetwork, .address, .address,
            needs: [.localSource],
            explains: Self.darkness.union([.gatewayMute]),
            excludes: [.othersAnswer, .translatorAnswers, .hostAnswers, .routersAnswer],
            says: {
                "this machine has only the unique local address \($0.source), to which the Internet has no way back"
            })
        // The router has another network now, and did not withdraw the old one (RFC 8978).
        case .oldAddress: Rule(.localNetwork, .address, .address,
            needs: [.otherSourceAnswers, .otherSourceUnheard],
            explains: Self.darkness.union([.gatewayMute, .gatewayForbids, .routerForbids, .noWay, .gatewayNoWay, .routerDiffers]),
            excludes: [.hostAnswers],
            says: {
                $0.hasObserved(.otherSourceAnswers)
                    ? "packets leave from \($0.source), to which no answer finds the way, though it does to \($0.otherSource): the network of the first one holds no longer, and the router has not withdrawn it"
                    : "packets leave from \($0.source), whose network holds no longer"
            })
        case .formerNetwork: Rule(.localNetwork, .address, .address,
            needs: [.deprecatedSource], explains: Self.darkness.union([.gatewayMute]),
            excludes: [.othersAnswer, .translatorAnswers, .hostAnswers, .otherSourceAnswers],
            says: {
                "\($0.link) has only \($0.source), whose network the router announces no longer, and to which no answer finds the way"
            })
        // A machine that announces itself as a router and leads nowhere (RFC 6104).
        case .rogueRouter: Rule(.localNetwork, .gateway, .gateway,
            needs: [.otherRouterForwards, .usualRouterForwards, .routerDiffers],
            explains: Self.darkness.union([.gatewayMute]),
            excludes: [.othersAnswer, .hostAnswers, .routersAnswer, .twoGateways, .bareLink, .otherSourceAnswers],
            says: {
                "the router\($0.gateway) of \($0.link) passes nothing on\($0.otherForwarder ?? $0.usualRouter ?? "")"
            })
        case .dark: Rule(.provider, .internet, .internet,
            needs: [.hostSilent],
            explains: Self.darkness.union([.bareLink, .gatewayMute, .neighbourServes, .passesGateway, .localSource, .deprecatedSource, .otherRouterForwards, .routerDiffers]),
            excludes: [.othersAnswer, .translatorAnswers, .hostAnswers, .otherSourceAnswers],
            says: { "\($0.nothing) answers beyond \($0.border)\($0.notEvenServer)" })
        case .loop: Rule(.provider, .internet, .internet,
            needs: [.loop], explains: Self.silence.union([.noWay]), excludes: [.hostAnswers],
            says: { $0.said(.loop) })
        case .cutOff: Rule(.provider, .internet, .internet,
            needs: [.hostMissing, .noWay], explains: Self.darkness, excludes: [.othersAnswer, .hostAnswers],
            says: { $0.said(.noWay, .hostMissing) })
        case .noRoute: Rule(.provider, .internet, .internet,
            needs: [.noWay], explains: [.hostSilent, .silentToEcho], excludes: [.hostAnswers],
            says: { $0.said(.noWay, .hostMissing) })
        case .lineLost: Rule(.provider, .internet, .internet,
            needs: [.gatewayNoWay], explains: Self.silence, excludes: [.hostAnswers],
            says: { $0.said(.gatewayNoWay) })
        case .bareLinkDark: Rule(.provider, .internet, .internet,
            needs: [.bareLink], explains: Self.darkness, excludes: [.othersAnswer, .hostAnswers, .routersAnswer],
            says: { "\($0.nothing) answers over \($0.link)" })
        // A tunnel may carry only some networks: others may answer by another link.
        case .peerSilent: Rule(.provider, .internet, .internet,
            needs: [.noHandshake], explains: Self.darkness.union([.bareLink]), excludes: [.hostAnswers],
            says: { "\($0.link) carries nothing, since \($0.tunnelSilence)" })
        case .translatorDead: Rule(.provider, .internet, .internet,
            needs: [.translated],
            explains: [.hostSilent, .translatorSilent, .passesGateway, .portAnswersElsewhere],
            excludes: [.hostAnswers, .translatorAnswers, .hostRefuses],
            says: { "the translator (NAT64) passes nothing on to \($0.translated)" })
        case .providerFilter: Rule(.provider, .internet, .internet,
            needs: [.tcpSilentEverywhere, .portSilentEverywhere, .refusedEverywhere, .portUnheard],
            explains: [.hostRefuses, .hostSilent, .hostAnswers, .passesGateway, .bareLink],
            excludes: [.portAnswersElsewhere, .refusedHere, .endsAtGateway],
            says: { "the provider \($0.filtered)" })
        case .providerForbids: Rule(.provider, .internet, .internet,
            needs: [.routerForbids], explains: [.hostSilent, .othersSilent], excludes: [],
            says: { $0.said(.routerForbids) })
        case .off: Rule(.server, .target, .connect,
            needs: [.hostMissing], explains: [.hostSilent], excludes: [.hostAnswers, .othersSilent],
            says: { "\($0.shown) is off or not there: \($0.said(.hostMissing))" })
        case .silent: Rule(.server, .target, .connect,
            needs: [.hostSilent],
            explains: [.passesGateway, .portAnswersElsewhere, .translated, .translatorAnswers, .bareLink],
            excludes: [.hostAnswers],
            says: { "\($0.shown) does not answer\($0.butWitness)" })
        case .filtered: Rule(.server, .target, .connect,
            needs: [.hostAnswers],
            explains: [.portAnswersElsewhere, .passesGateway, .bareLink],
            excludes: [.tcpSilentEverywhere, .hostRefuses],
            says: { $0.facts.role == .nameServer
                ? "\($0.shown) does not answer" : "\($0.shown) is there, but \($0.deafness)"
            })
        case .refuses: Rule(.server, .target, .connect,
            needs: [.hostRefuses],
            explains: [.portAnswersElsewhere, .passesGateway, .bareLink],
            excludes: [.refusedHere],
            says: { "\($0.shown) refuses TCP port \($0.refusedPort): no program serves it there" })
        case .forbids: Rule(.server, .target, .connect,
            needs: [.hostForbids], explains: [], excludes: [],
            says: { $0.said(.hostForbids) })
        case .badCertificate: Rule(.server, .target, .tls,
            needs: [.untrustedHere], explains: [.trustedElsewhere], excludes: [.untrustedElsewhere],
            says: {
                "the certificate of \($0.shown) is not signed by an authority that this machine trusts"
            })
        }
    }
}
