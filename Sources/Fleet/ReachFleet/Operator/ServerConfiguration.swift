/// The text of a nats-server configuration for a fleet.
package struct ServerConfiguration: Hashable, Sendable {
    /// The files of a TLS listener (PEM).
    package struct TLS: Hashable, Sendable {
        package var certificate: String
        package var key: String
        /// The authorities of clients' certificates; `nil` asks for none.
        package var clientAuthorities: String?

        package init(certificate: String, key: String, clientAuthorities: String? = nil) {
            self.certificate = certificate
            self.key = key
            self.clientAuthorities = clientAuthorities
        }
    }

    package var version: ServerVersion
    package var hosts = HostList()
    /// Public halves of the keys of those who look, who hold and release, and who set up.
    package var readers: [String] = []
    package var controllers: [String] = []
    package var administrators: [String] = []
    package var name: String?
    package var listen: String
    package var store: String
    package var storeBytes: String
    package var tls: TLS?

    package init(version: ServerVersion, listen: String, store: String, storeBytes: String) {
        self.version = version
        self.listen = listen
        self.store = store
        self.storeBytes = storeBytes
    }

    /// What a configuration's text cannot hold between quotes.
    package static func canQuote(_ text: String) -> Bool {
        !text.isEmpty
            && !text.utf8.contains { $0 < 0x20 || $0 == 0x7f || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
    }

    package var text: String {
        """
        # nats-server for a fleet of reach, printed by `reach-fleet config`. Give it to nats-server -c.
        \(name.map { "server_name: \(Self.quoted($0))\n" } ?? "")listen: \(Self.quoted(listen))
        \(tlsText)
        # A host renews its lease every 2 min, so the server need not ask whether it is there. A closed path is found after
        # two of these.
        ping_interval: "3m"
        # Hosts send at most half of this at once.
        max_payload: 256KB
        write_deadline: "10s"

        jetstream {
          store_dir: \(Self.quoted(store))
          max_file_store: \(storeBytes)
          max_memory_store: 256MB
        \(syncText)
        }

        # The server's reports of connects and disconnects become a stream of the fleet's account.
        system_account: SYS
        accounts {
          SYS {
            exports: [
              { stream: "$SYS.ACCOUNT.*.CONNECT" }
              { stream: "$SYS.ACCOUNT.*.DISCONNECT" }
              { service: "$SYS.REQ.SERVER.PING.VARZ", response_type: "stream" }
            ]
          }
          REACH {
            jetstream: enabled
            imports: [
              { stream: { account: SYS, subject: "$SYS.ACCOUNT.REACH.CONNECT" }, to: "reach.v1.conn.up.REACH" }
              { stream: { account: SYS, subject: "$SYS.ACCOUNT.REACH.DISCONNECT" }, to: "reach.v1.conn.down.REACH" }
              { service: { account: SYS, subject: "$SYS.REQ.SERVER.PING.VARZ" }, to: "\(FleetRights.serverSubject)" }
            ]
            users: [
        \(usersText)    ]
          }
        }

        """
    }

    private var tlsText: String {
        guard let tls else {
            return "# Without TLS: for this machine only.\n"
        }
        let clients = tls.clientAuthorities.map { "\n  ca_file: \(Self.quoted($0))\n  verify: true" } ?? ""
        return """
            tls {
              cert_file: \(Self.quoted(tls.certificate))
              key_file: \(Self.quoted(tls.key))
              timeout: 10\(clients)
            }

            """
    }

    private var syncText: String {
        version.hasCompression
            ? "  # What was acknowledged survives a loss of power.\n  sync_interval: always"
            : "  # This version writes to the disk every 2 min: a loss of power loses what was acknowledged since."
    }

    private var usersText: String {
        let groups: [(title: String, users: [(key: String, rights: FleetRights)])] = [
            ("who sets up", administrators.map { ($0, .administrator) }),
            ("who holds and releases", controllers.map { ($0, .controller) }),
            ("who looks", readers.map { ($0, .reader) }),
        ]
        return groups.map { title, users in users.map { Self.user($0.key, title, $0.rights) }.joined() }.joined()
            + hosts.entries.map { Self.user($0.key, "host \($0.host)", .host($0.host, groups: $0.groups)) }.joined()
    }

    private static func user(_ key: String, _ comment: String, _ rights: FleetRights) -> String {
        """
              # \(comment)
              { nkey: \(key), permissions: {
                publish: { allow: [\(list(rights.publish))] }
                subscribe: { allow: [\(list(rights.subscribe))] } } }

        """
    }

    private static func list(_ subjects: [String]) -> String { subjects.map(quoted).joined(separator: ", ") }

    private static func quoted(_ text: String) -> String { "\"\(text)\"" }
}
