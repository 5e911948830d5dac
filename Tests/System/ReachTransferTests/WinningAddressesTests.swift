import ReachCore
import Testing

@testable import ReachTransfer

struct WinningAddressesTests {
    private let start = BootTime(nanoseconds: 0)
    private let addresses: [IPAddress] = ["2001:db8::7", "192.0.2.7", "2001:db8::8", "192.0.2.8"]

    private func url(_ text: String) throws -> TransferURL { try TransferURL(text) }

    @Test func `the address that connected first is the first one for ten minutes, or until another one does`() throws {
        let host = try url("http://a.example/")
        var winners = WinningAddresses()
        winners.note("192.0.2.8", of: host, insteadOf: "2001:db8::7", at: start)
        #expect(winners.ordered(addresses, of: host, at: start).first == "192.0.2.8")
        #expect(Set(winners.ordered(addresses, of: host, at: start)) == Set(addresses))
        #expect(winners.ordered(addresses, of: host, at: start + .seconds(600)) == addresses)
        #expect(try winners.ordered(addresses, of: url("http://a.example:8080/"), at: start) == addresses)
        winners.note("2001:db8::7", of: host, insteadOf: "2001:db8::7", at: start)
        #expect(winners.ordered(addresses, of: host, at: start) == addresses)
    }

    @Test func `where names have other addresses each time, the family counts`() throws {
        let host = try url("http://a.example/")
        var winners = WinningAddresses()
        winners.note("192.0.2.99", of: host, insteadOf: "2001:db8::7", at: start)
        #expect(winners.ordered(addresses, of: host, at: start).first == "192.0.2.7")
    }

    @Test func `there is a limit to what is remembered`() throws {
        var winners = WinningAddresses()
        for number in 0..<3000 {
            winners.note(
                "192.0.2.7", of: try url("http://h\(number).example/"), insteadOf: "2001:db8::7", at: start)
        }
        #expect(try winners.ordered(addresses, of: url("http://h0.example/"), at: start) == addresses)
        #expect(try winners.ordered(addresses, of: url("http://h2999.example/"), at: start).first == "192.0.2.7")
    }
}
