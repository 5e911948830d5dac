internal import ReachCore
internal import ReachDesktop
internal import Testing

@Suite struct NetworkManagerWordsTests {
    /// State and connectivity in NetworkManager's numbers, as programs read them.
    @Test(
        arguments: [
            (Connectivity.full, true, 70, 4), (.portal, true, 60, 2), (.limited, true, 60, 3), (.none, true, 60, 1),
            // Checked, and not yet decided.
            (.unknown, true, 60, 0),
            // Nothing checks: NetworkManager then takes a default route for the Internet, or programs would stay
            // offline.
            (.unknown, false, 70, 4),
        ] as [(Connectivity, Bool, UInt32, UInt32)])
    func `a path has the state that NetworkManager would give it`(
        connectivity: Connectivity, isValidated: Bool, state: UInt32, number: UInt32
    ) throws {
        let words = try #require(NetworkManagerWords(Sample.reachable(connectivity, isValidated: isValidated)))
        #expect(words.state.rawValue == state)
        #expect(words.connectivity.rawValue == number)
    }

    @Test func `without a path the state says whether a link works, is about to, or does not`() throws {
        var causes: [UInt32: Set<String>] = [:]
        for cause in RootCause.Kind.allCases {
            let words = try #require(NetworkManagerWords(Sample.lost(cause)))
            #expect(words.connectivity == .none)
            #expect(words.metered == .unknown)
            causes[words.state.rawValue, default: []].insert(cause.rawValue)
        }
        let local: Set = [
            "no-default-route", "self-assigned-address", "rule", "gateway-unreachable", "neighbour-unreachable",
            "blackhole", "unreachable", "prohibited",
        ]
        #expect(causes[50] == local)
        #expect(causes[40] == ["authenticating", "address-tentative", "no-address"])
        #expect(
            causes[20]?.isSuperset(of: ["no-links", "no-carrier", "link-down", "radio-blocked", "not-associated"])
                == true)
        #expect(causes.count == 3)
        #expect(NetworkManagerWords(Sample.lost(nil))?.state == .disconnected)
    }

    @Test func `an unknown state is none of NetworkManager's, which programs would take for offline`() {
        #expect(NetworkManagerWords(Sample.unknown()) == nil)
    }

    @Test func `a metered path says whether somebody said so or it is guessed`() throws {
        func metered(_ reason: MeteredReason?) -> UInt32? {
            var path = Sample.path("wwan0", 4, .wwan)
            (path.isMetered, path.meteredReason) = (reason != nil, reason)
            var state = Sample.reachable(by: path)
            state.isMetered = path.isMetered
            return NetworkManagerWords(state)?.metered.rawValue
        }
        #expect(metered(.configuration) == 1)
        for reason in MeteredReason.allCases where reason != .configuration { #expect(metered(reason) == 3) }
        #expect(metered(nil) == 4)
    }

    @Test func `each class of links has a type of device and of connection`() {
        let types = LinkClass.allCases.map { NetworkManagerLinkType($0) }
        #expect(NetworkManagerLinkType(.wired).connection == "802-3-ethernet")
        #expect(NetworkManagerLinkType(.wifi).device == 2)
        #expect(NetworkManagerLinkType(nil) == NetworkManagerLinkType(.other))
        // All but those that are generic.
        #expect(Set(types).count == LinkClass.allCases.count - 1)
    }
}
