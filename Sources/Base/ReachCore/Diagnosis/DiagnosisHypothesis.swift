/// An explanation of a silence or an error: who is at fault, what it needs, what it predicts, and what rules it out.
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
    case dark
    case loop
    case cutOff = "cut-off"
    case noRoute = "no-route"
    case lineLost = "line-lost"
    case bareLinkDark = "bare-link-dark"
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
        let subject: Diagnosis.Step.Subject
        /// One of these must have been observed.
        let needs: Set<DiagnosisFact>
        /// What it predicts. Its needs are among it.
        let explains: Set<DiagnosisFact>
        /// What cannot be observed if it holds.
        let excludes: Set<DiagnosisFact>

        init(
            _ party: Diagnosis.Party, _ layer: OutageLayer, _ subject: Diagnosis.Step.Subject,
            needs: Set<DiagnosisFact>, explains: Set<DiagnosisFact>, excludes: Set<DiagnosisFact>
        ) {
            self.party = party
            self.layer = layer
            self.subject = subject
            self.needs = needs
            self.explains = explains.union(needs)
            self.excludes = excludes
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
            needs: [.notSent], explains: Self.silence, excludes: [])
        case .ownRefusal: Rule(.thisMachine, .route, .connect,
            needs: [.refusedHere], explains: [.hostRefuses, .refusedEverywhere], excludes: [])
        case .ownInput: Rule(.thisMachine, .route, .connect,
            needs: [.droppedHere], explains: Self.silence.union([.tcpSilentEverywhere, .portSilentEverywhere]), excludes: [])
        case .reversePath: Rule(.thisMachine, .route, .route,
            needs: [.droppedByReversePath], explains: Self.silence, excludes: [.othersAnswer, .hostAnswers])
        case .wrongGateway: Rule(.thisMachine, .route, .gateway,
            needs: [.neighbourServes, .neighbourForwards], explains: Self.darkness.union([.gatewayMute]),
            excludes: [.othersAnswer, .hostAnswers, .routersAnswer, .twoGateways, .bareLink])
        case .missingAuthority: Rule(.thisMachine, .target, .tls,
            needs: [.untrustedElsewhere], explains: [.untrustedHere, .otherIssuer], excludes: [.trustedElsewhere, .sameIssuer])
        case .twin: Rule(.localNetwork, .address, .gateway,
            needs: [.twoGateways, .twinHere], explains: Self.silence.union([.gatewayMute]), excludes: [])
        case .localFilter: Rule(.localNetwork, .internet, .internet,
            needs: [.tcpSilentEverywhere, .portSilentEverywhere, .refusedEverywhere], explains: [.hostRefuses], excludes: [.portAnswersElsewhere, .passesGateway, .refusedHere])
        case .localForbids: Rule(.localNetwork, .internet, .internet,
            needs: [.gatewayForbids], explains: [.hostSilent, .othersSilent], excludes: [])
        case .interception: Rule(.localNetwork, .target, .tls,
            needs: [.untrustedElsewhere], explains: [.untrustedHere, .sameIssuer], excludes: [.trustedElsewhere, .otherIssuer])
        // Without a way back nothing is heard either; a gateway may translate the addresses, though, and all may be
        // dark.
        case .localAddresses: Rule(.localNetwork, .address, .address,
            needs: [.localSource], explains: Self.darkness.union([.gatewayMute]), excludes: [.othersAnswer, .translatorAnswers, .hostAnswers, .routersAnswer])
        // The router has another network now, and did not withdraw the old one (RFC 8978).
        case .oldAddress: Rule(.localNetwork, .address, .address,
            needs: [.otherSourceAnswers], explains: Self.darkness.union([.gatewayMute, .routersAnswer, .gatewayForbids, .routerForbids, .noWay, .gatewayNoWay, .routerDiffers]),
            excludes: [.hostAnswers])
        case .formerNetwork: Rule(.localNetwork, .address, .address,
            needs: [.deprecatedSource], explains: Self.darkness.union([.gatewayMute]),
            excludes: [.othersAnswer, .translatorAnswers, .hostAnswers, .otherSourceAnswers])
        // A machine that announces itself as a router and leads nowhere (RFC 6104).
        case .rogueRouter: Rule(.localNetwork, .gateway, .gateway,
            needs: [.otherRouterForwards, .usualRouterForwards, .routerDiffers], explains: Self.darkness.union([.gatewayMute]),
            excludes: [.othersAnswer, .hostAnswers, .routersAnswer, .twoGateways, .bareLink, .otherSourceAnswers])
        case .dark: Rule(.provider, .internet, .internet,
            needs: [.hostSilent], explains: Self.darkness.union([.gatewayMute, .neighbourServes, .passesGateway, .localSource, .deprecatedSource, .otherRouterForwards, .routerDiffers]),
            excludes: [.othersAnswer, .translatorAnswers, .hostAnswers, .otherSourceAnswers])
        case .loop: Rule(.provider, .internet, .internet,
            needs: [.loop], explains: Self.silence.union([.noWay]), excludes: [.hostAnswers])
        case .cutOff: Rule(.provider, .internet, .internet,
            needs: [.hostMissing, .noWay], explains: Self.darkness, excludes: [.othersAnswer, .hostAnswers])
        case .noRoute: Rule(.provider, .internet, .internet,
            needs: [.noWay], explains: [.hostSilent, .silentToEcho], excludes: [.hostAnswers])
        case .lineLost: Rule(.provider, .internet, .internet,
            needs: [.gatewayNoWay], explains: Self.silence, excludes: [.hostAnswers])
        case .bareLinkDark: Rule(.provider, .internet, .internet,
            needs: [.bareLink], explains: Self.darkness, excludes: [.othersAnswer, .hostAnswers, .routersAnswer])
        // A tunnel may carry only some networks: others may answer by another link.
        case .peerSilent: Rule(.provider, .internet, .internet,
            needs: [.noHandshake], explains: Self.darkness.union([.bareLink]), excludes: [.hostAnswers])
        case .translatorDead: Rule(.provider, .internet, .internet,
            needs: [.translated], explains: [.hostSilent, .translatorSilent, .passesGateway, .portAnswersElsewhere], excludes: [.hostAnswers, .translatorAnswers, .hostRefuses])
        case .providerFilter: Rule(.provider, .internet, .internet,
            needs: [.tcpSilentEverywhere, .portSilentEverywhere, .refusedEverywhere], explains: [.hostRefuses, .passesGateway], excludes: [.portAnswersElsewhere, .refusedHere])
        case .providerForbids: Rule(.provider, .internet, .internet,
            needs: [.routerForbids], explains: [.hostSilent, .othersSilent], excludes: [])
        case .off: Rule(.server, .target, .connect,
            needs: [.hostMissing], explains: [.hostSilent], excludes: [.hostAnswers, .othersSilent])
        case .silent: Rule(.server, .target, .connect,
            needs: [.hostSilent], explains: [.passesGateway, .portAnswersElsewhere, .translated, .translatorAnswers], excludes: [.hostAnswers])
        case .filtered: Rule(.server, .target, .connect,
            needs: [.hostAnswers], explains: [.portAnswersElsewhere, .passesGateway], excludes: [.tcpSilentEverywhere, .hostRefuses])
        case .refuses: Rule(.server, .target, .connect,
            needs: [.hostRefuses], explains: [], excludes: [.refusedHere])
        case .forbids: Rule(.server, .target, .connect,
            needs: [.hostForbids], explains: [], excludes: [])
        case .badCertificate: Rule(.server, .target, .tls,
            needs: [.untrustedHere], explains: [.trustedElsewhere], excludes: [.untrustedElsewhere])
        }
    }
}
