import ReachCore
import Testing

/// Which header fields go along to another origin, and whose values are shown.
struct HeaderSecrecyTests {
    @Test(arguments: [
        "Authorization", "Proxy-Authorization", "Cookie", "Cookie2", "X-Api-Key", "Api-Key", "apikey", "PRIVATE-TOKEN",
        "X-Auth-Token", "X-Amz-Security-Token", "X-Amz-Credential", "Ocp-Apim-Subscription-Key", "X-Goog-Api-Key",
        "DD-API-KEY", "X-Vault-Token", "X-CSRF-Token", "X-XSRF", "X-Session-Id", "X-Password", "Passphrase",
        "X-Passcode", "X-GitHub-OTP", "DPoP-Proof", "Signature", "Signature-Input", "X-Sig", "X-Hmac",
        "X-Forwarded-Client-Cert", "Cf-Access-Client-Id", "Cf-Access-Jwt-Assertion", "X-Amzn-Oidc-Identity",
        "X-MS-Client-Principal", "X-Bearer", "X-SAML-Response", "X-Ticket", "X-Login", "X-Nonce", "Referer",
    ])
    func `a name that says that it is secret is recognised, in any case of letters`(name: String) {
        for name in [name, name.lowercased(), name.uppercased()] {
            #expect(HeaderField(name, "x").isNamedAsSecret)
            #expect(!HeaderField(name, "x").isHarmless)
        }
    }

    @Test(arguments: ["X-Client-Version", "X-Trace", "SOAPAction", "Depth", "X-Ms-Version", "Tus-Resumable"])
    func `other fields of programs go along, and their values may be secrets in the clear`(name: String) {
        #expect(!HeaderField(name, "x").isNamedAsSecret)
        #expect(!HeaderField(name, "x").isHarmless)
    }

    @Test(arguments: ["Accept", "Content-Type", "Idempotency-Key", "User-Agent", "If-None-Match", "X-Requested-With"])
    func `what anyone may see is no secret, whatever its name contains`(name: String) {
        #expect(HeaderField(name, "x").isHarmless)
        #expect(!HeaderField(name, "x").isNamedAsSecret)
    }
}
