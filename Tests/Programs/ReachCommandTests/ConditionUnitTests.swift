import Testing

@testable import reach

/// What `reach units` reads of systemctl.
@Suite struct ConditionUnitTests {
    @Test(arguments: [
        ("wifi", "wifi"), (#"wifi\x2cnot\x20wwan"#, "wifi,not wwan"),
        (#"network\x3dhome\x2doffice"#, "network=home-office"),
        ("a-b", "a/b"), (#"\x"#, #"\x"#), (#"\xg1"#, #"\xg1"#), ("", ""),
    ])
    func `a unit's name is read as systemd-escape wrote it`(name: String, wanted: String) {
        #expect(ConditionUnit.unescaped(name) == wanted)
    }

    @Test func `the service that follows a condition stands for its target`() {
        #expect(ConditionUnit.target(of: #"reach-condition@wifi\x2cany.service"#) == #"reach@wifi\x2cany.target"#)
        #expect(ConditionUnit.target(of: "reach@any.target") == "reach@any.target")
    }

    @Test func `targets are listed with who waits for them, without the service that follows`() {
        let units = ConditionUnit.read(
            """
            Id=reach@wifi.target
            ActiveState=active
            Wants=sync.service
            BoundBy=backup.service "sync@a\\\\x2cb.service" sync.service
            RequisiteOf=
            WantedBy=reach-condition@wifi.service

            Id=reach@any.target
            ActiveState=inactive
            Wants=

            Id=other.target
            ActiveState=active

            """)
        #expect(units.map(\.condition) == ["any", "wifi"])
        #expect(units.map(\.isActive) == [false, true])
        #expect(units.last?.wanted == ["sync.service"])
        #expect(units.last?.bound == ["backup.service", "sync.service", #"sync@a\x2cb.service"#])
    }
}
