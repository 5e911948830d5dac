import ReachControl
import ReachCore
import Testing

@Suite struct CallTests {
    private let server: TestServer
    private let client: RawClient

    init() throws {
        server = try TestServer()
        client = try RawClient(server.path)
    }

    private func text(_ json: JSONValue) -> String {
        var writer = JSONWriter()
        writer.value(json)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func `the service describes itself and defines its interfaces`() throws {
        #expect(
            text(try client.call(#"{"method":"org.varlink.service.GetInfo"}"#)) == """
                {"parameters":{"interfaces":["org.varlink.service","io.reach.Monitor"],"product":"test",\
                "url":"https://example.org/reach","vendor":"reach","version":"1.2.3"}}
                """)
        for name in ["org.varlink.service", "io.reach.Monitor"] {
            let reply = try client.call(
                #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"\#(name)"}}"#)
            #expect(reply["parameters"]?["description"]?.string?.contains("\ninterface \(name)\n") == true)
        }
    }

    @Test(arguments: [
        (#"{"method":"io.absent.Here"}"#, "org.varlink.service.InterfaceNotFound", #"{"interface":"io.absent"}"#),
        (#"{"method":"nodots"}"#, "org.varlink.service.MethodNotFound", #"{"method":"nodots"}"#),
        (
            #"{"method":"io.reach.Monitor.Guess"}"#, "org.varlink.service.MethodNotFound",
            #"{"method":"io.reach.Monitor.Guess"}"#
        ),
        (
            #"{"method":"io.reach.Monitor.Status","parameters":{"targt":"a"}}"#,
            "org.varlink.service.InvalidParameter", #"{"parameter":"targt"}"#
        ),
        (
            #"{"method":"io.reach.Monitor.Status","parameters":{"target":7}}"#,
            "org.varlink.service.InvalidParameter", #"{"parameter":"target"}"#
        ),
        (
            #"{"method":"org.varlink.service.GetInterfaceDescription"}"#,
            "org.varlink.service.InvalidParameter", #"{"parameter":"interface"}"#
        ),
        (
            #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"a.b"}}"#,
            "org.varlink.service.InterfaceNotFound", #"{"interface":"a.b"}"#
        ),
        (
            #"{"method":"io.reach.Monitor.Status","upgrade":true}"#,
            "org.varlink.service.MethodNotImplemented", #"{"method":"io.reach.Monitor.Status"}"#
        ),
        (#"{"method":"io.reach.Monitor.Watch"}"#, "org.varlink.service.ExpectedMore", "{}"),
        (
            #"{"method":"io.reach.Monitor.Status","parameters":{"target":"-"}}"#,
            "io.reach.Monitor.InvalidTarget", #"{"reason":"'-' is not a host name","target":"-"}"#
        ),
        (
            #"{"method":"io.reach.Monitor.Watch","more":true,"parameters":{"target":"1.2.3"}}"#,
            "io.reach.Monitor.InvalidTarget",
            #"{"reason":"'1.2.3' is not an IPv4 address, nor a host name","target":"1.2.3"}"#
        ),
        (
            #"{"method":"io.reach.Monitor.Status","parameters":{"target":"blind.example"}}"#,
            "io.reach.Monitor.CannotObserve", #"{"reason":"netlink is gone"}"#
        ),
        (
            #"{"method":"io.reach.Monitor.Watch","more":true,"parameters":{"target":"blind.example"}}"#,
            "io.reach.Monitor.CannotObserve", #"{"reason":"netlink is gone"}"#
        ),
        (
            #"{"method":"io.reach.Monitor.Probes","parameters":{"after":-1}}"#,
            "org.varlink.service.InvalidParameter", #"{"parameter":"after"}"#
        ),
        (
            #"{"method":"io.reach.Monitor.Probes","parameters":{"after":9223372036854775807}}"#,
            "org.varlink.service.InvalidParameter", #"{"parameter":"after"}"#
        ),
        (
            #"{"method":"io.reach.Monitor.Probes","parameters":{"limit":"all"}}"#,
            "org.varlink.service.InvalidParameter", #"{"parameter":"limit"}"#
        ),
        (
            #"{"method":"io.reach.Monitor.Probe"}"#, "org.varlink.service.InvalidParameter",
            #"{"parameter":"target"}"#
        ),
        (
            #"{"method":"io.reach.Monitor.Probe","parameters":{"target":"web","timeout_ms":0}}"#,
            "org.varlink.service.InvalidParameter", #"{"parameter":"timeout_ms"}"#
        ),
    ])
    func `a faulty call gets the error's name, and the connection stays open`(
        call: String, name: String, parameters: String
    ) throws {
        #expect(text(try client.call(call)) == #"{"error":"\#(name)","parameters":\#(parameters)}"#)
        #expect(try client.call(#"{"method":"io.reach.Monitor.Status"}"#)["parameters"]?["status"] != nil)
    }

    @Test func `a status names the daemon as its source, and the target of the call`() throws {
        for target in ["internet", "192.0.2.7", "interface:eth0", "host.example"] {
            let reply = try client.call(
                #"{"method":"io.reach.Monitor.Status","parameters":{"target":"\#(target)"}}"#)
            #expect(reply["parameters"]?["status"]?["source"] == .string("daemon"))
            #expect(reply["parameters"]?["status"]?["target"] == .string(target))
            #expect(reply["parameters"]?["status"]?["status"] == .string("reachable"))
        }
        let reply = try client.call(#"{"method":"io.reach.Monitor.Status","parameters":{"target":null}}"#)
        #expect(reply["parameters"]?["status"]?["target"] == .string("internet"))
    }
}
