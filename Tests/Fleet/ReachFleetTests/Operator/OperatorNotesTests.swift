import ReachCore
import ReachFleet
import Testing

/// The entries of the bucket of notes: what they say, and about which hosts.
@Suite struct OperatorNotesTests {
    /// Three hosts: a in the group tills, b in tills and kiosks, c in none.
    private static let roster = {
        var roster = Roster()
        for (host, groups) in [("a", ["tills"]), ("b", ["tills", "kiosks"]), ("c", [])] {
            roster.apply(listed: host, HostList.Entry(host: host, key: "K\(host)", groups: groups))
        }
        return roster
    }()

    private static func quiet(_ id: String, _ from: Double, _ until: Double, why: String? = nil) -> [UInt8] {
        QuietTime(id: id, query: .all, from: at(from), until: at(until), why: why, author: "anna").bytes
    }

    private static func reason(_ notes: OperatorNotes, _ host: String, at seconds: Double) -> String? {
        roster[host].flatMap { notes.quietReason($0, HostPresence(.here), at: at(seconds)) }
    }

    @Test func `a quiet time holds from its beginning until before its end, for the hosts of its group`() {
        var notes = OperatorNotes()
        #expect(notes.apply(key: "quiet.all.x", Self.quiet("x", 10, 20), storedAt: at(0)) == nil)
        #expect([9, 10, 19.9, 20].map { Self.reason(notes, "c", at: $0) } == [nil, "quiet x", "quiet x", nil])
        _ = notes.apply(key: "quiet.group.kiosks.y", Self.quiet("y", 5, 30, why: "stocktaking"), storedAt: at(0))
        // The one that began first says why.
        #expect(["a", "b", "c"].map { Self.reason(notes, $0, at: 15) } == ["quiet x", "stocktaking", "quiet x"])
        #expect(["a", "b", "c"].map { Self.reason(notes, $0, at: 25) } == [nil, "stocktaking", nil])
        #expect(
            notes.quiet.map(\.id) == ["y", "x"] && notes.quiet.map(\.key) == ["quiet.group.kiosks.y", "quiet.all.x"])
        _ = notes.apply(key: "quiet.group.kiosks.y", nil, storedAt: at(0))
        _ = notes.apply(key: "quiet.all.x", [], storedAt: at(0))
        #expect(notes.quiet == [])
    }

    @Test(arguments: ["quiet.all", "quiet.x", "quiet.all.x.y", "quiet.group.x", "quiet.group.a.b.c", "quit.all.x"])
    func `a key of another form is no quiet time`(key: String) {
        #expect(QuietTime(key: key, Self.quiet("x", 0, 1)) == nil)
        var notes = OperatorNotes()
        #expect(notes.apply(key: key, Self.quiet("x", 0, 1), storedAt: at(0)) == nil)
        #expect(notes.quiet == [])
    }

    @Test func `a quiet time comes back from its bytes, and its group from its key alone`() throws {
        let quiet = QuietTime(
            id: "x", group: "tills", query: try HostQuery("class=wifi"), from: at(1), until: at(2), why: "w",
            author: "a")
        #expect(QuietTime(key: quiet.key, quiet.bytes) == quiet)
        #expect(QuietTime(key: "quiet.all.x", quiet.bytes)?.group == nil)
        for part in ["from", "until"] {
            let text = String(decoding: quiet.bytes, as: UTF8.self)
            let without = text.split(separator: "\"\(part)\":").joined(separator: "\"x\":")
            #expect(QuietTime(key: quiet.key, Array(without.utf8)) == nil, "\(part)")
        }
    }

    @Test func `the newest acknowledgement holds, until its end, if its group has all hosts of the alert`() {
        var notes = OperatorNotes()
        func author(_ hosts: Set<String>, at seconds: Double = 0, of alert: String = "x") -> String? {
            notes.acknowledgement(of: alert, about: hosts, in: Self.roster, at: at(seconds))?.author
        }
        func bytes(_ author: String, until: Double? = nil) -> [UInt8] {
            Acknowledgement(alert: "x", author: author, until: until.map { at($0) }, stored: at(0)).bytes
        }
        #expect(author(["a"]) == nil)
        _ = notes.apply(key: "ack.group.tills.1", bytes("bert"), storedAt: at(1))
        #expect(author(["a"]) == "bert" && author(["a", "b"]) == "bert" && author(["a"], of: "y") == nil)
        #expect(author(["a", "c"]) == nil && author(["unknown"]) == nil)
        _ = notes.apply(key: "ack.all.1", bytes("anna", until: 20), storedAt: at(2))
        #expect(author(["a"]) == "anna" && author(["c"]) == "anna" && author(["c"], at: 19.9) == "anna")
        #expect(author(["a"], at: 20) == "bert" && author(["c"], at: 20) == nil)
        _ = notes.apply(key: "ack.group.tills.1", nil, storedAt: at(3))
        #expect(author(["a"], at: 20) == nil)
        // Only the fourth part of a key of a group's form is of a group.
        for key in ["ack.all.a.b", "ack.group.1"] {
            _ = notes.apply(key: key, bytes("carl"), storedAt: at(4))
            #expect(author(["a", "c"]) == "carl", "\(key)")
            _ = notes.apply(key: key, nil, storedAt: at(4))
            #expect(author(["a", "c"]) == "anna", "\(key)")
        }
        let note = Acknowledgement(alert: "x", author: "a", why: "w", until: at(3), stored: at(9))
        #expect(Acknowledgement(note.bytes, stored: at(9)) == note)
        #expect(Acknowledgement(Array("{\"v\":1}".utf8), stored: at(0)) == nil)
    }

    @Test func `a note about a host names it, and a key has its operator's name and groups`() {
        var notes = OperatorNotes()
        #expect(notes.apply(key: "host.a.b", nil, storedAt: at(0)) == "a.b")
        _ = notes.apply(key: "key.K", OperatorName(name: "anna", groups: ["tills", "b c"]).bytes, storedAt: at(0))
        // What is no group's name is none.
        #expect(notes.name(ofKey: "K") == OperatorName(name: "anna", groups: ["tills"]))
        #expect(notes.name(ofKey: "L") == nil)
        _ = notes.apply(key: "key.K", nil, storedAt: at(0))
        #expect(notes.name(ofKey: "K") == nil)
        #expect(OperatorName.noteKey(of: "K") == "key.K" && HostNote.key(of: "a") == "host.a")
    }

    @Test func `a host's note comes back from its bytes`() throws {
        let note = HostNote(labels: ["site": "b"], retired: at(3))
        #expect(try HostNote(note.bytes) == note && !note.isEmpty)
        #expect(try HostNote(HostNote().bytes) == HostNote() && HostNote().isEmpty)
        #expect(!HostNote(labels: ["a": ""]).isEmpty && !HostNote(retired: at(0)).isEmpty)
    }

    @Test(arguments: OperatorAction.Kind.allCases)
    func `an action comes back from its bytes, and its sentence says who did what`(kind: OperatorAction.Kind) throws {
        let action = OperatorAction(kind, on: "group tills", text: "stocktaking", user: "u1", revision: 7)
        #expect(try OperatorAction(action.bytes) == action)
        let verbs: [OperatorAction.Kind: String] = [
            .hold: "held", .release: "released", .quiet: "quieted", .acknowledge: "acknowledged", .retire: "retired",
            .label: "labelled", .setup: "stored", .enroll: "enrolled", .revoke: "revoked",
        ]
        let verb = try #require(verbs[kind])
        func sentence(_ key: String?, _ name: String?, _ action: OperatorAction) -> String {
            AuditEntry(time: at(0), key: key, name: name, action: action).sentence
        }
        #expect(sentence("K", "anna", action) == "anna (as u1) \(verb) group tills: stocktaking")
        let plain = OperatorAction(kind, on: "a")
        #expect(try OperatorAction(plain.bytes) == plain)
        #expect(sentence("K", nil, plain) == "key K \(verb) a")
        #expect(sentence(nil, nil, plain) == "somebody, without a record \(verb) a")
    }

    @Test func `of notes of a kind as many are kept as the limit allows, and no more`() {
        var notes = OperatorNotes()
        for number in 0...OperatorNotes.limit {
            let id = "n\(number)"
            let note = Acknowledgement(alert: id, author: "anna", stored: at(0))
            _ = notes.apply(key: "ack.all.\(id)", note.bytes, storedAt: at(0))
            _ = notes.apply(key: "quiet.all.\(id)", Self.quiet(id, 0, 1), storedAt: at(0))
        }
        let last = OperatorNotes.limit - 1
        let known = [last, last + 1].map {
            notes.acknowledgement(of: "n\($0)", about: ["a"], in: Self.roster, at: at(1)) != nil
        }
        #expect(known == [true, false] && notes.quiet.count == OperatorNotes.limit)
    }

    @Test func `a label is a name and a value, each within its limit`() {
        func read(_ text: String) -> String? { HostLabels.read(text).map { "\($0.name)|\($0.value)" } }
        #expect(["a=b", "a=", "a=b=c", "=b", "a", ""].map(read) == ["a|b", "a|", "a|b=c", nil, nil, nil])
        let long = String(repeating: "x", count: 64)
        #expect(HostLabels.areValid([:]) && HostLabels.areValid([long: long]))
        #expect(!HostLabels.areValid([long + "x": ""]) && !HostLabels.areValid(["a": long + "x"]))
        #expect(!HostLabels.areValid(["a": "\n"]) && !HostLabels.areValid(["\u{1b}": "a"]))
        let many = Dictionary(uniqueKeysWithValues: (0..<17).map { ("n\($0)", "") })
        #expect(!HostLabels.areValid(many) && HostLabels.areValid(many.filter { $0.key != "n0" }))
    }
}
