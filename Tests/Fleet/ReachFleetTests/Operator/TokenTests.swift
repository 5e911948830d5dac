import ReachCore
import ReachFleet
import Testing

/// Tokens of NATS, and who gets one.
@Suite struct TokenTests {
    private static func key(_ number: UInt8, _ kind: NKeyKind = .user) -> String {
        NKeyText.publicText([UInt8](repeating: number, count: 32), kind)
    }

    private static let accounts = FleetAccounts(
        owner: key(1, .operator), signer: key(2, .operator),
        accounts: Dictionary(
            uniqueKeysWithValues: FleetAccounts.Account.allCases.enumerated().map {
                ($1, key(UInt8(10 + $0), .account))
            }),
        signers: Dictionary(
            uniqueKeysWithValues: FleetAccounts.Role.allCases.enumerated().map { ($1, key(UInt8(20 + $0), .account)) }))

    private static func signed(_ claims: NATSClaims) -> NATSToken {
        claims.signed(hashedBy: { Array($0.suffix(32)) }) { _ throws(Never) in [UInt8](repeating: 0xfb, count: 64) }
    }

    private static func ticket(
        _ host: String = "till-1", key: UInt8 = 3, groups: [String] = ["tills"], issued: Timestamp = at(1000),
        signer: FleetAccounts.Role = .token
    ) -> NATSToken {
        signed(
            accounts.userClaims(
                signer, key: self.key(key), name: host, groups: groups, issued: issued, life: .seconds(3600)))
    }

    // MARK: - Texts

    @Test(arguments: NKeyKind.allCases)
    func `a key of each kind begins with its letter and comes back`(_ kind: NKeyKind) throws {
        let bytes = (0..<32).map { UInt8($0 * 5) }
        let letter = ["operator": "O", "account": "A", "user": "U"]["\(kind)"]
        #expect(letter.map { NKeyText.publicText(bytes, kind).hasPrefix($0) } == true)
        #expect(letter.map { NKeyText.seedText(bytes, kind).hasPrefix("S" + $0) } == true)
        #expect(try NKeyText.readPublic(NKeyText.publicText(bytes, kind), kind) == bytes)
        #expect(try NKeyText.readSeed(NKeyText.seedText(bytes, kind), kind) == bytes)
        for other in NKeyKind.allCases where other != kind {
            #expect(throws: NKeyText.Fault.self) { try NKeyText.readPublic(NKeyText.publicText(bytes, kind), other) }
            #expect(throws: NKeyText.Fault.self) { try NKeyText.readSeed(NKeyText.seedText(bytes, kind), other) }
        }
    }

    @Test func `a token comes back from its text`() throws {
        let token = Self.ticket()
        let read = try NATSToken(token.text)
        #expect(read == token)
        #expect(read.name == "till-1" && read.groups == ["tills"] && read.issued == 1000 && read.expires == 4600)
        let exact = Timestamp(secondsSince1970: 1000, nanoseconds: 7)
        #expect(try NATSToken(Self.ticket(issued: exact).text).issuedExactly == exact)
        #expect(!token.text.contains { "+/=".contains($0) })
    }

    @Test(arguments: ["", ".", "..", "a.b.c", "e30.e30.e30", String(repeating: "x", count: 2 << 20)])
    func `what is no token is refused`(_ text: String) {
        #expect(throws: NATSToken.Fault.self) { try NATSToken(text) }
    }

    @Test func `a token for one use and of a host have no rights of their own, so that those of the account count`() {
        for role in FleetAccounts.Role.allCases {
            let claims = Self.accounts.userClaims(
                role, key: Self.key(3), name: "a", issued: Self.at(1), life: .seconds(1))
            #expect(Set(claims.body.keys) == ["type", "version", "issuer_account"])
        }
        #expect(Self.ticket().text.utf8.count < 700)
    }

    // MARK: - Accounts

    /// The server refuses an account whose exports contain one another.
    @Test func `no export contains another, and each import has its export`() throws {
        func subjects(_ account: FleetAccounts.Account, _ key: String) -> [(subject: String, account: String?)] {
            (Self.accounts.claims(of: account, issued: 1).body[key]?.array ?? []).map {
                ($0["subject"]?.string ?? "", $0["account"]?.string)
            }
        }
        for account in FleetAccounts.Account.allCases {
            let exports = subjects(account, "exports").map(\.subject)
            for (index, subject) in exports.enumerated() {
                for (other, wide) in exports.enumerated() where other != index {
                    #expect(!SubjectPattern.contains(wide, subject), "\(wide) contains \(subject)")
                }
            }
            for (subject, exporter) in subjects(account, "imports") {
                let from = try #require(Self.accounts.accounts.first { $0.value == exporter }?.key)
                #expect(
                    subjects(from, "exports").contains { SubjectPattern.contains($0.subject, subject) },
                    "\(account) imports \(subject)")
            }
        }
    }

    @Test(arguments: [
        ("a.>", "a.b", true), ("a.>", "a.b.c", true), ("a.>", "a", false), ("a.*", "a.b", true),
        ("a.*", "a.b.c", false), ("a.*", "a.>", false), ("a.b", "a.*", false), (">", "a.*", true), ("a.b", "a.b", true),
        ("a.b.c", "a.b", false),
        ("*.b", "a.b", true), ("*", ">", false),
    ])
    func `one subject contains another`(_ wide: String, _ narrow: String, _ isContained: Bool) {
        #expect(SubjectPattern.contains(wide, narrow) == isContained)
    }

    @Test func `a revoked key is listed until all its tokens have ended`() {
        let day: Int64 = 86_400
        var revoked = FleetAccounts.revoking(["a"], in: [:], at: 1000 * day)
        // By other clocks, too, a token signed before is not good any more.
        #expect(revoked["a"] == 1001 * day)
        revoked = FleetAccounts.revoking(["b"], in: revoked, at: 1300 * day)
        #expect(Set(revoked.keys) == ["a", "b"])
        revoked = FleetAccounts.revoking([], in: revoked, at: 1500 * day)
        #expect(Set(revoked.keys) == ["b"])
        let token = Self.signed(Self.accounts.claims(of: .hosts, revoked: revoked, issued: 1))
        #expect(FleetAccounts.revoked(in: token) == revoked)
    }

    // MARK: - Enrolment

    private static func at(_ seconds: Int) -> Timestamp { Timestamp(secondsSince1970: seconds, nanoseconds: 0) }

    private func judged(
        _ ticket: NATSToken?, asker: UInt8 = 3, host: String = "till-1", key: UInt8 = 5, entry: HostList.Entry? = nil,
        revoked: Set<String> = [], now: Int = 2000, isSigned: Bool = true
    ) -> Result<HostList.Entry, Enrolment.Refusal> {
        let request = Enrolment.Request(host: host, asker: Self.key(asker), key: Self.key(key), ticket: ticket)
        let read = Enrolment.Request(
            subject: Enrolment.subject(host: host, key: Self.key(asker)), request.payload)
        #expect(read == request)
        return Result { () throws(Enrolment.Refusal) in
            try Enrolment.judge(
                request, ticketKey: Self.accounts.signers[.token] ?? "", entry: entry, revoked: revoked,
                now: Self.at(now)
            ) { _ in isSigned }
        }
    }

    private static let enrolled = HostList.Entry(
        host: "till-1", key: key(5), groups: ["tills"], ticket: HostList.Ticket(key: key(3), issued: at(1000)))

    @Test func `a token for one use lets a key in, and the same key again if the answer was lost`() throws {
        #expect(try judged(Self.ticket()).get() == Self.enrolled)
        #expect(try judged(Self.ticket(), entry: Self.enrolled).get() == Self.enrolled)
        // A newer one gives the host a new key. The old key stays until it is revoked.
        let newer = try judged(Self.ticket(key: 4, issued: Self.at(1001)), asker: 4, key: 6, entry: Self.enrolled).get()
        #expect(newer.key == Self.key(6) && newer.otherKey == Self.key(5))
        let after = try judged(
            Self.ticket(key: 4, issued: Self.at(1001)), asker: 4, key: 6, entry: Self.enrolled, revoked: [Self.key(5)]
        ).get()
        #expect(after.otherKey == nil)
        // A host of a file may enrol.
        let listed = HostList.Entry(host: "till-1", key: Self.key(9), labels: ["site": "b"])
        #expect(try judged(Self.ticket(), entry: listed).get().labels == ["site": "b"])
    }

    @Test func `a token for one use is refused twice, too late, for another host, forged and revoked`() {
        func refusal(_ result: Result<HostList.Entry, Enrolment.Refusal>) -> Enrolment.Refusal? {
            if case .failure(let refusal) = result { refusal } else { nil }
        }
        #expect(refusal(judged(Self.ticket(), key: 6, entry: Self.enrolled)) == .used(by: Self.key(5)))
        #expect(refusal(judged(Self.ticket(), now: 4600)) == .late)
        #expect(refusal(judged(Self.ticket("till-2"))) == .otherHost("till-2"))
        #expect(refusal(judged(Self.ticket(), isSigned: false)) == .unknown)
        #expect(refusal(judged(Self.ticket(), asker: 4)) == .unknown)
        #expect(refusal(judged(Self.ticket(signer: .host))) == .unknown)
        #expect(refusal(judged(Self.ticket(), revoked: [Self.key(5)])) == .revoked)
        #expect(refusal(judged(Self.ticket(), revoked: [Self.key(3)])) == .revoked)
        // Another one was used since, whether it was made at the same time or later.
        for issued in [1000, 999] {
            let older = Self.ticket(key: 4, issued: Self.at(issued))
            #expect(refusal(judged(older, asker: 4, key: 6, entry: Self.enrolled)) == .superseded)
        }
    }

    @Test func `of two tokens of one second the one that was made later is the newer one`() throws {
        func exact(_ nanoseconds: Int) -> Timestamp { Timestamp(secondsSince1970: 1000, nanoseconds: nanoseconds) }
        let first = try judged(Self.ticket(issued: exact(5))).get()
        let newer = try judged(Self.ticket(key: 4, issued: exact(6)), asker: 4, key: 6, entry: first).get()
        #expect(newer.key == Self.key(6))
        #expect(throws: Enrolment.Refusal.superseded) {
            try judged(Self.ticket(key: 7, issued: exact(5)), asker: 7, key: 8, entry: newer).get()
        }
        // An earlier version kept the second alone.
        #expect(
            try judged(Self.ticket(key: 4, issued: exact(1)), asker: 4, entry: Self.enrolled).get().key == Self.key(5))
    }

    @Test func `a host renews the token of its own key only`() throws {
        #expect(try judged(nil, asker: 5, entry: Self.enrolled).get() == Self.enrolled)
        for (asker, key): (UInt8, UInt8) in [(5, 6), (6, 6), (6, 5)] {
            #expect(throws: Enrolment.Refusal.unknown) {
                try judged(nil, asker: asker, key: key, entry: Self.enrolled).get()
            }
        }
        #expect(throws: Enrolment.Refusal.unknown) { try judged(nil, asker: 5).get() }
    }

    @Test func `an answer comes back from its bytes`() {
        let refusals: [Enrolment.Refusal] = [
            .used(by: "K"), .superseded, .late, .otherHost("b"), .unknown, .revoked, .damaged, .unavailable("x"),
        ]
        #expect(Set(refusals.map(\.word)).count == refusals.count)
        for answer in [.token(Self.ticket())] + refusals.map({ Enrolment.Answer($0) }) {
            #expect(Enrolment.Answer(answer.payload) == answer)
        }
        for text in ["", "{}", "[]", #"{"token":1}"#, #"{"token":"a.b.c"}"#] {
            #expect(Enrolment.Answer(Array(text.utf8)) == nil)
        }
    }

    @Test(arguments: ["{}", "[]", #"{"key":"UABC"}"#, #"{"key":1}"#, ""])
    func `a request that is none is damaged`(_ text: String) {
        let subject = Enrolment.subject(host: "till-1", key: Self.key(1))
        #expect(Enrolment.Request(subject: subject, Array(text.utf8)) == nil)
    }
}
