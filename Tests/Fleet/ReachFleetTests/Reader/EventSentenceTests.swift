import ReachCore
import ReachFleet
import Testing

/// What happened on a host, in words for people.
@Suite struct EventSentenceTests {
    private static func status(_ members: String, previous: String? = nil, cause: String? = nil) -> String {
        let before = previous.map { #""previous":{"status":"\#($0)"},"# } ?? ""
        let why = cause.map { #""cause":"\#($0)","# } ?? ""
        return #""type":"change",\#(before)\#(why)"status":{\#(members)}"#
    }

    @Test(
        arguments: [
            (status(#""status":"reachable""#), "internet reachable"),
            (
                status(
                    #""target":"shop","status":"not-reachable","class":"wifi","reason":"no-route""#,
                    previous: "reachable", cause: "carrier-lost"),
                "shop not reachable over wifi (no-route); was reachable; cause: carrier-lost"
            ),
            (status(#""status":"reachable","connectivity":"portal""#), "internet reachable, portal"),
            (status(#""status":"reachable","connectivity":"limited""#), "internet reachable, limited"),
            (status(#""status":"reachable","connectivity":"full""#), "internet reachable"),
            (status(#""status":"reachable","connectivity":"unknown""#), "internet reachable"),
            (status(#""status":"unknown""#, previous: "not-reachable"), "internet unknown; was not reachable"),
            (status(#""status":"reachable""#, previous: "reachable"), "internet reachable"),
            (#""type":"wake","slept_ms":65000"#, "woke up after 1 min 5 s"),
            (#""type":"probe","event":"down","probe":{"probe":"web","state":"down"}"#, "probe web is down"),
            (
                #""type":"probe","event":"down","probe":{"probe":"web","state":"down","last":{"reason":"refused"}}"#,
                "probe web is down (refused)"
            ),
            (#""type":"queue","event":"hold""#, "queue: hold"),
            (#""type":"queue","event":"dead","id":5,"reason":"refused""#, "queue: request 5 dead (refused)"),
            (#""type":"gap","first":2,"last":4"#, "3 events are lost"),
            (#""type":"gap","first":2,"last":4,"count":2,"reason":"expired""#, "2 events are lost (expired)"),
            (#""type":"started""#, "started"),
        ] as [(String, String)])
    func `an event is said in a sentence`(members: String, sentence: String) throws {
        let line = #"{"v":1,"log":"l","n":4,"time":"2026-11-21T03:10:00.123456Z","boottime_ns":5,\#(members)}"#
        #expect(try FleetEvent(Array(line.utf8)).sentence == sentence)
    }
}
