import ReachControl
import ReachCore
import ReachTesting
import Testing

@Suite struct VarlinkMessageTests {
    private func call(_ text: String) throws(VarlinkFault) -> VarlinkCall {
        try VarlinkCall(reading: Array(text.utf8))
    }

    @Test func `a call is read with its parameters and flags`() throws {
        let call = try call(
            #"{"method":"a.b.C","parameters":{"d":1},"more":true,"oneway":false,"upgrade":null,"later":[]}"#)
        #expect(call == VarlinkCall("a.b.C", ["d": .integer(1)], wantsMore: true))
        #expect(call.names?.interface == "a.b")
        #expect(call.names?.method == "C")
        #expect(try self.call(#"{"method":"C","parameters":null}"#) == VarlinkCall("C"))
        #expect(try self.call(#"{"method":"C"}"#).names == nil)
    }

    @Test(arguments: [
        ("[]", VarlinkFault.notObject), ("1", .notObject), ("{}", .member("method")),
        (#"{"method":null}"#, .member("method")), (#"{"method":1}"#, .member("method")),
        (#"{"method":"a.B","parameters":[]}"#, .member("parameters")),
        (#"{"method":"a.B","parameters":"x"}"#, .member("parameters")),
        (#"{"method":"a.B","more":1}"#, .member("more")), (#"{"method":"a.B","oneway":"true"}"#, .member("oneway")),
        (#"{"method":"a.B","upgrade":{}}"#, .member("upgrade")),
        ("", .notJSON(JSONError(.expected("a value"), at: 0))),
        (#"{"method":"a.B"}{}"#, .notJSON(JSONError(.trailingBytes, at: 16))),
        (#"{"method":"a.B","method":"a.C"}"#, .notJSON(JSONError(.duplicateKey("method"), at: 16))),
    ])
    func `a malformed call is an error that names the fault`(text: String, fault: VarlinkFault) {
        #expect(throws: fault) { try call(text) }
    }

    @Test func `a written call is read as the same`() throws {
        var random = SeededGenerator(seed: 4)
        for _ in 0..<200 {
            var call = VarlinkCall("io.reach.Monitor.Status", ["target": .string("é\"\0\n")])
            call.wantsMore = random.oneIn(2)
            call.isOneWay = random.oneIn(2)
            call.wantsUpgrade = random.oneIn(2)
            let frame = call.frame
            #expect(frame.last == 0 && frame.count { $0 == 0 } == 1)
            #expect(try VarlinkCall(reading: frame.dropLast()) == call)
        }
    }

    @Test func `a reply is read with its error`() throws {
        let error = VarlinkError("a.B", ["c": .string("d")])
        let reply = try VarlinkReply(reading: VarlinkReply.frame(of: error).dropLast())
        #expect(reply.error == error)
        #expect(error.description == "a.B, c: d")
        let answer = try VarlinkReply(reading: VarlinkReply.frame { $0.field("x", 1) }.dropLast())
        #expect(answer.parameters == ["x": .integer(1)] && answer.error == nil && !answer.continues)
        #expect(throws: VarlinkFault.member("error")) { try VarlinkReply(reading: Array(#"{"error":1}"#.utf8)) }
    }

    @Test(arguments: [
        MonitorError.invalidTarget("a b", reason: "bad"), .cannotObserve(reason: "blind"),
        .permissionDenied(method: "io.reach.Monitor.Reload"), .tooManyConnections(limit: 3), .tooManyTargets(limit: 4),
        .notAvailable(reason: "later"), .badConfiguration(reason: "line 3"),
    ])
    func `an error of io.reach.Monitor survives encoding`(error: MonitorError) {
        #expect(MonitorError(error.varlink) == error)
    }
}
