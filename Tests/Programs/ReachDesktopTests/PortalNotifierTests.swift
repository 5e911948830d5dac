internal import Glibc
internal import ReachTesting
internal import Testing

/// `reach-desktop --notify` with a real reachd behind a portal, and a server of notifications that presses the button.
@Suite(
    .enabled(if: SmallInternet.whyNot == nil, "\(SmallInternet.whyNot ?? "")"),
    .enabled(if: TestBus.isAvailable, "\(TestBus.whyNot)"),
    .enabled(
        if: (try? ChildProcess.run(["/usr/bin/python3", "-c", "import dbus, dbus.service, gi"])) != nil,
        "there is no python3-dbus or python3-gi"), .timeLimit(.minutes(2)))
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

    /// A machine behind a portal, its reachd, and a bus with the program; xdg-open writes down what it opens.
    private final class Stage {
        let small: SmallInternet
        let bus: TestBus
        private let socket: String
        private let daemon: RunningProgram

        init() throws {
            small = try SmallInternet()
            bus = try TestBus(isStrict: false)
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
            try bus.directory.file(
                "xdg-open", "#!/bin/sh\n{ printf '%s|' \"$#\" \"$@\"; echo; } >>\(directory)/opened\n", mode: 0o755)
            socket = directory + "/socket"
            try small.openPortal("return 302 \"http://login.example/$request_id?a=b&c=;x\";")
            daemon = try BuiltProgram(named: "reachd").start(
                ["--config", file, "--socket", socket, "--state", directory + "/state", "--events"],
                in: small.machine.name)
            _ = try daemon.nextLine()
        }

        func startDesktop() throws -> RunningProgram {
            var environment = bus.environment
            environment["PATH"] = bus.directory.path + ":/usr/bin:/bin"
            return try BuiltProgram(named: "reach-desktop").start(
                ["--notify", "--socket", socket], environment: environment)
        }

        /// What xdg-open opened, once there is anything.
        func opened() -> String {
            for _ in 0..<100 {
                let text = (try? ChildProcess.run(["cat", bus.directory.path + "/opened"])) ?? ""
                if !text.isEmpty { return text }
                usleep(50_000)
            }
            return ""
        }
    }

    @Test func `a portal is shown with its address, the button opens it, and a login withdraws it`() throws {
        let stage = try Stage()
        let server = try BuiltProgram(named: "/usr/bin/python3").start(
            [try stage.bus.directory.file("server.py", Self.server)], environment: stage.bus.environment)
        #expect(try server.nextLine() == "ready")
        let desktop = try stage.startDesktop()

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
                ], environment: stage.bus.environment)
            #expect(emitted.status == 0, "\(emitted.standardError)")
        }
        server.send(SIGUSR1)
        let opened = stage.opened()
        #expect(opened.hasPrefix("1|http://login.example/") && opened.hasSuffix("|\n"), "\(opened)")
        #expect(opened.split(separator: "\n").count == 1, "\(opened)")
        try stage.small.closePortal()
        #expect(try server.nextLine(within: .seconds(30)) == "[\"close\", 1]")
        #expect(stage.opened() == opened)
        desktop.send(SIGTERM)
        #expect(try desktop.finish().status == 0)
    }

    /// Whether there is a screen, a program that shows notifications on it, and one that clicks.
    private static let hasScreen = ["Xvfb", "dunst", "xdotool"].allSatisfy { TestProgram.path($0) != nil }

    @Test(.enabled(if: hasScreen, "there is no Xvfb, dunst or xdotool"))
    func `dunst that starts later has it on the screen once, and a click there opens the page`() throws {
        let stage = try Stage()
        let screen = try BuiltProgram(named: try #require(TestProgram.path("Xvfb"))).start(
            ["-displayfd", "1", "-screen", "0", "800x300x24", "-nolisten", "tcp"])
        var environment = stage.bus.environment
        environment["DISPLAY"] = ":" + (try screen.nextLine(within: .seconds(20)))
        environment["HOME"] = stage.bus.directory.path
        environment["XDG_CONFIG_HOME"] = stage.bus.directory.path
        let desktop = try stage.startDesktop()
        usleep(3_000_000)
        let server = try BuiltProgram(named: try #require(TestProgram.path("dunst"))).start(
            ["-print"], environment: environment)
        var lines = [try server.nextLine(within: .seconds(30))]
        while lines.last?.contains("summary:") == false { lines.append(try server.nextLine(within: .seconds(30))) }
        #expect(lines.last?.contains("This network wants a login") == true)
        // A check later there is no other.
        usleep(12_000_000)
        let found = try BuiltProgram(named: "xdotool").run(
            [
                "search", "--sync", "--onlyvisible", "--class", "dunst", "mousemove", "--window", "%1", "20", "20",
                "click", "2",
            ],
            environment: environment)
        #expect(found.status == 0, "\(found.standardError)")
        let opened = stage.opened()
        #expect(opened.hasPrefix("1|http://login.example/") && opened.split(separator: "\n").count == 1, "\(opened)")
        desktop.send(SIGTERM)
        let ended = try desktop.finish()
        #expect(ended.status == 0 && ended.standardError.contains("no notification could be shown"), "\(ended)")
        server.send(SIGTERM)
        let rest = try server.finish().standardOutput
        #expect(!rest.contains("summary:"), "\(rest)")
        screen.send(SIGTERM)
    }
}
