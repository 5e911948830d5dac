import ReachProbe
import Testing

@Suite struct ValidationResultTests {
    struct Round: Sendable {
        let plain: [EndpointFinding]
        let secure: [EndpointFinding]
        let result: ValidationResult

        init(_ result: ValidationResult, http plain: [EndpointFinding] = [], https secure: [EndpointFinding] = []) {
            self.plain = plain
            self.secure = secure
            self.result = result
        }
    }

    private static let portal = EndpointFinding.portal(url: "http://login.example/")
    private static let page = ValidationResult.portal(url: "http://login.example/")
    private static let silence = EndpointFinding.failure(.noAnswer)

    @Test(arguments: [
        Round(.full, http: [.proof], https: [.proof]),
        Round(.full, http: [silence], https: [.proof]),
        Round(.full, https: [.proof]),
        Round(.limited(.onlyInsecure), http: [.proof], https: [silence]),
        Round(.limited(.onlyInsecure), http: [.proof], https: [.failure(.certificate)]),
        Round(.limited(.noAnswer), http: [silence], https: [silence]),
        Round(page, http: [silence, portal]),
        Round(page, http: [portal], https: [silence]),
        Round(page, http: [portal], https: [.failure(.certificate)]),
        // The name of an endpoint by HTTPS has the portal's address.
        Round(page, https: [portal]),
        Round(page, http: [silence], https: [portal]),
        Round(.full, http: [.proof, .proof], https: [portal, .proof]),
        // A proxy rewrites pages, but lets HTTPS through.
        Round(.full, http: [portal], https: [.proof]),
        // One endpoint that is blocked, down or rewritten does not outweigh the others.
        Round(.full, http: [silence, .proof]),
        Round(.full, http: [.proof, portal, .proof]),
        Round(.full, https: [silence, .proof]),
        Round(page, http: [.proof, portal]),
        Round(page, http: [.proof, portal, portal]),
        // The clock is wrong or the certificate has expired: HTTP decides.
        Round(.full, http: [.proof], https: [.inconclusive]),
        Round(.inconclusive, https: [.inconclusive]),
        Round(.inconclusive, http: [.inconclusive], https: [.inconclusive]),
        Round(.limited(.noAnswer), http: [.inconclusive, silence]),
        Round(.inconclusive),
        // The attempt that got further says more.
        Round(.limited(.noAnswer), http: [.failure(.nameNotResolved), silence]),
        Round(.limited(.wrongAnswer), http: [.failure(.wrongAnswer), silence, .failure(.privateAddress)]),
        Round(.limited(.privateAddress), http: [.failure(.privateAddress), .failure(.nameNotResolved)]),
    ])
    func `findings give the same result in any order`(round: Round) {
        let findings = round.plain.map { ($0, false) } + round.secure.map { ($0, true) }
        #expect(ValidationResult(findings) == round.result)
        #expect(ValidationResult(findings.reversed()) == round.result)
    }

    @Test func `only proof by HTTPS ends a round early`() {
        #expect(ValidationResult.isDecided(by: [(.proof, true)]))
        #expect(!ValidationResult.isDecided(by: [(.proof, false), (Self.portal, false), (Self.silence, true)]))
    }
}
