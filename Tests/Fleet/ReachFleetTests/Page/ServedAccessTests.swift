import ReachCore
import ReachFleet
import Testing

@Suite struct ServedAccessTests {
    @Test(arguments: [
        ("127.0.0.1:9110", true), ("192.0.2.1", true), ("[::1]:9110", true), ("[::1]", true), ("localhost:9110", true),
        ("LOCALHOST", true), ("fleet.example.net", true), ("Fleet.Example.net:443", true), ("", false),
        ("evil.example", false), ("evil.example:9110", false), ("localhost.evil.example", false), ("[evil", false),
        ("127.0.0.1.evil.example", false), ("[::1", false), (":", false),
    ])
    func `without a token a request names an address or a known name`(_ host: String, _ isAdmitted: Bool) {
        let access = ServedAccess(token: nil, names: ["fleet.example.net"])
        #expect((access.refusal(host: host, authorization: nil) == nil) == isAdmitted)
    }

    @Test(arguments: [
        ("Bearer 0123456789abcdef", true), ("bearer  0123456789abcdef ", true),
        // anyone:0123456789abcdef and :0123456789abcdef
        ("Basic YW55b25lOjAxMjM0NTY3ODlhYmNkZWY=", true), ("basic OjAxMjM0NTY3ODlhYmNkZWY=", true),
        ("", false), ("Bearer", false), ("Bearer 0123456789abcdeX", false), ("Bearer 0123456789abcde", false),
        ("Bearer 0123456789abcdef0", false), ("Basic 0123456789abcdef", false), ("Digest 0123456789abcdef", false),
        // No colon.
        ("Basic MDEyMzQ1Njc4OWFiY2RlZg==", false),
    ])
    func `with a token whoever has it is admitted, by any name`(_ authorization: String, _ isAdmitted: Bool) {
        let access = ServedAccess(token: Array("0123456789abcdef".utf8), names: [])
        let refusal = access.refusal(host: "any.example", authorization: authorization)
        #expect(refusal == (isAdmitted ? nil : .unauthorized))
    }
}
