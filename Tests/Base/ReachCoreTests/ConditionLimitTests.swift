import ReachTesting
import Testing

@testable import ReachCore

/// Texts that anybody may write have a limit before they are read.
@Suite struct ConditionLimitTests {
    /// A condition of this many terms, all different.
    private static func text(terms count: Int) -> String {
        (0..<count).map { "not network=net-\($0)" }.joined(separator: ",")
    }

    private func fault(_ text: String) -> String? {
        do throws(NetworkConditionError) {
            _ = try NetworkCondition(text)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `a condition has at most 64 terms and 4096 bytes`() {
        #expect(fault(Self.text(terms: 64)) == nil)
        #expect(fault(Self.text(terms: 65)) == "a condition has at most 64 terms, and this one has 65")
        #expect(fault(String(repeating: "any,", count: 46_000))?.contains("at most 4096 bytes") == true)
        #expect(fault("any" + String(repeating: " ", count: 4093)) == nil)
        #expect(fault("any" + String(repeating: " ", count: 4094)) != nil)
    }

    @Test func `a condition that is longer when it is written has the same limit`() throws {
        let names = (0..<60).map { "not network=" + String(repeating: "n", count: 51) + String(1000 + $0) }
        let short = names.joined(separator: ",")
        #expect(short.utf8.count <= 4096)
        let condition = try NetworkCondition(stored: short)
        #expect(condition.description.utf8.count > 4096)
        #expect(fault(short)?.contains("at most 4096 bytes") == true)
        // What earlier versions stored is still what it was.
        #expect(try NetworkCondition(stored: condition.description) == condition)
    }

    @Test(arguments: [50, 500, 5000, 46_000])
    func `reading a condition looks at each byte as often, however many terms there are`(terms: Int) throws {
        let looks = LookCounter()
        let bytes = Array(Self.text(terms: terms).utf8)
        let read = try ConditionReader.read(CountedBytes(bytes, looks)) { _ in false }
        #expect(read?.excludedNetworks.count == terms)
        #expect(looks.count <= 3 * bytes.count)
    }

    @Test(arguments: 0..<20)
    func `whatever is accepted is accepted again as it is written`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let words =
            NetworkCondition.words + ["interface=eth0", "network=office", "  ", "not network=b", "\u{301}", "x"]
        for _ in 0..<200 {
            let count = random.pick([1, 2, 5, 63, 64, 65])
            let text = (0..<count).map { _ in random.pick(words) }.joined(separator: random.pick([",", " , "]))
            guard let condition = try? NetworkCondition(text) else { continue }
            #expect((try? NetworkCondition(condition.description)) == condition)
        }
    }

    @Test(arguments: ["host.example/", "https://host.example/", "interface:", "::1", "\u{301}"])
    func `a target has at most 2048 bytes`(start: String) {
        let long = start + String(repeating: "a", count: 2049 - start.utf8.count)
        #expect {
            try Target(long)
        } throws: {
            ($0 as? TargetError)?.description.hasSuffix("is longer than 2048 bytes") ?? false
        }
    }

    @Test func `a URL of 2048 bytes is a target, and is watched as its host and port`() throws {
        let url = "https://host.example/"
        let long = try Target(url + String(repeating: "a", count: 2048 - url.utf8.count))
        let watched = try [long, Target(url), Target("wss://user@host.example/?a")].map(\.watched)
        #expect(Set(watched).count == 1 && watched[0].subject == .name("host.example"))
        let flows = try [url, "http://host.example:81", "ftp://host.example/", "host.example"].map(Target.init)
        #expect(flows.map(\.watched.flow) == [.tcp(443), .tcp(81), nil, nil])
        #expect(watched[0].description.utf8.count < 32)
        for text in ["internet", "host.example", "192.0.2.1", "192.0.2.0/24", "interface:eth0"] {
            let target = try Target(text)
            #expect(target.watched == target)
        }
        let zoned = try Target("http://[fe80::1%25eth0]/a").watched
        #expect(zoned.subject == (try Target("fe80::1%eth0").subject))
    }

    @Test func `an error quotes little of a long text, also of one Character without end`() {
        let one = "e" + String(repeating: "\u{301}", count: 100_000)
        #expect(DisplayText.excerpt(one).utf8.count < 200)
        #expect(DisplayText.excerpt("short") == "short")
        #expect(DisplayText.excerpt(String(repeating: "a", count: 65)).hasSuffix("a..."))
    }

    @Test func `a reader of calls refuses long keys, and more values than it may have`() {
        let limits = JSONReader.Limits(keyBytes: 8, values: 4)
        func fault(_ text: String) -> JSONError.Fault? {
            do throws(JSONError) {
                _ = try JSONReader.read(Array(text.utf8), limits: limits)
                return nil
            } catch {
                return error.fault
            }
        }
        #expect(fault(#"{"abcdef":[1,2]}"#) == nil)
        #expect(fault(#"{"abcdefg":1}"#) == .keyTooLong)
        #expect(fault("[1,2,3,4]") == .tooMany)
    }
}
