import ReachCore
import ReachSession
import ReachTesting

/// A machine whose only link is Wi-Fi, and a server behind it.
final class NetworkScene {
    let machine: TestNamespace
    let peer: TestNamespace
    let server: ScriptedServer
    let session: RequestSession

    init(_ change: (inout RequestSessionOptions) -> Void = { _ in }) throws {
        machine = try TestNamespace()
        peer = try machine.vethPair()
        server = try ScriptedServer(in: peer, at: IPAddress(ipv4: 0xc000_0201), port: 80) { connection in
            connection.write(SessionStage.echo(connection.readRequest()))
        }
        var options = RequestSessionOptions()
        options.linkClasses = ["up*": .wifi]
        options.namespace = machine.descriptor
        change(&options)
        session = try RequestSession(options: options)
    }

    deinit { machine.remove() }

    func link(up isUp: Bool) throws {
        try machine.run("ip", "link", "set", "up0", isUp ? "up" : "down")
        if isUp { try machine.run("ip", "route", "replace", "default", "via", "192.0.2.1") }
    }
}
