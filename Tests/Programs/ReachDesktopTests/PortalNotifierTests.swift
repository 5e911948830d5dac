internal import Glibc
internal import ReachTesting
internal import Testing

/// `reach-desktop --notify` with a real reachd behind a portal, and a server of notifications that presses the button.
@Suite(
    .enabled(if: SmallInternet.whyNot == nil, "\(SmallInternet.whyNot ?? "")"),
    .enabled(if: TestBus.isAvailable, "\(TestBus.whyNot)"),
    .enabled(
        if: (try? ChildProcess.run(["/usr/bin/python3", "-c", "import dbus, dbus.service, gi"])) != nil,
        "there is no python3-dbus or python3-gi"), .timeLimit(.minutes(1)))
struct PortalNotifierTests {
    /// Prints what it shows, and presses the button at a signal.
    private static let server = """
        import dbus, dbus.service, dbus.mainloop.glib, json, signal
        from gi.repository import GLib
        dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
        N = "org.freedesktop.Notifications"
        class Server(dbus.service.Object):
            shown = 0
            @dbus.service.method(N, in_signature="", out_signature="as")
            def GetCapabilities(self): return ["body", "body-markup", "actions"]
            @dbus.service.method(N, in_signature="susssasa{sv}i", out_signature="u", sender_keyword="sender")
            def Notify(self, app, old, icon, title, body, actions, hints, time, sender):
                self.shown = old or self.shown + 1
                print(json.dumps(["show", int(old), title, body, actions, sender]), flush=True)
                return self.shown
            @dbus.service.method(N, in_signature="u", out_signature="")
            def CloseNotification(self, number): print(json.dumps(["close", int(number)]), flush=True)
            @dbus.service.signal(N, signature="us")
            def ActionInvoked(self, number, key): pass
        bus = dbus.SessionBus()
        name = dbus.service.BusName(N, bus)
        server = Server(bus, "/org/freedesktop/Notifications")
        GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGUSR1, lambda: server.ActionInvoked(server.shown, "open") or True)
        print("ready", flush=True)
        GLib.MainLoop().run()
        """

    @Test func `a portal is shown with its address, the button opens it, and a login withdraws it`() throws {
        let small = try SmallInternet()
        let bus = try TestBus(isStrict: false)
        let directory = bus.directory.path
        let file = try bus.directory.file(
            "reach.toml",
            """
            [connectivity]
            interval = "10s"
            timeout = "1s"
            proxy = "none"
            demote_after = 1
            endpoints = ["http://198.51.100.80/204"]

            """)
        let server = try BuiltProgram(named: "/usr/bin/python3").start(
            [try bus.directory.file("server.py", Self.server)], environment: bus.environment)
        #expect(try server.nextLine() == "ready")
        try bus.directory.file(
            "xdg-open", "#!/bin/sh\n{ printf '%s|' \"$#\" \"$@\"; echo; } >>\(directory)/opened\n", mode: 0o755)
        let socket = directory + "/socket"
        try small.openPortal("return 302 \"http://login.example/$request_id?a=b&c=;x\";")
        let daemon = try BuiltProgram(named: "reachd").start(
            ["--config", file, "--socket", socket, "--state", directory + "/state", "--events"], in: small.machine.name)
        _ = try daemon.nextLine()
        var environment = bus.environment
        environment["PATH"] = directory + ":/usr/bin:/bin"
        let desktop = try BuiltProgram(named: "reach-desktop").start(
            ["--notify", "--socket", socket], environment: environment)

        let shown = try server.nextLine(within: .seconds(30))
        #expect(shown.hasPrefix("[\"show\", 0, \"This network wants a login\", \"Behind up0 there is a portal. "))
        #expect(shown.contains("http://login.example. ") && shown.contains("\"open\""))
        // Another program cannot press it, not even by a signal straight to the one that waits.
        let waiting = String(try #require(shown.split(separator: "\"").dropLast().last))
        for destination in [[], ["--dest", waiting]] as [[String]] {
            let emitted = try BuiltProgram(named: "gdbus").run(
                ["emit", "--session"] + destination + [
                    "--object-path", "/org/freedesktop/Notifications", "--signal",
                    "org.freedesktop.Notifications.ActionInvoked", "uint32 1", "'forged'",
                ], environment: bus.environment)
            #expect(emitted.status == 0, "\(emitted.standardError)")
        }
        server.send(SIGUSR1)
        var opened = ""
        for _ in 0..<100 where opened.isEmpty {
            usleep(50_000)
            opened = (try? ChildProcess.run(["cat", directory + "/opened"])) ?? ""
        }
        #expect(opened.hasPrefix("1|http://login.example/") && opened.hasSuffix("|\n"), "\(opened)")
        #expect(opened.split(separator: "\n").count == 1, "\(opened)")
        try small.closePortal()
        #expect(try server.nextLine(within: .seconds(30)) == "[\"close\", 1]")
        #expect(try ChildProcess.run(["cat", directory + "/opened"]) == opened)
        desktop.send(SIGTERM)
        #expect(try desktop.finish().status == 0)
        _ = daemon
    }
}
