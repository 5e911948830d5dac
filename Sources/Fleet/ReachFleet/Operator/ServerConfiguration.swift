internal import ReachCore

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

    /// What a server knows whose users have signed tokens.
    package struct Tokens: Hashable, Sendable {
        package var operatorToken: String
        package var accounts: [Account]

        package struct Account: Hashable, Sendable {
            package var name: String
            package var key: String
            package var token: String

            package init(name: String, key: String, token: String) {
                (self.name, self.key, self.token) = (name, key, token)
            }
        }

        package init(operatorToken: String, accounts: [Account]) {
            (self.operatorToken, self.accounts) = (operatorToken, accounts)
        }
    }

    /// The most bytes of a message of a host, a reader or an operator.
    static let longestMessage: Int64 = 256 << 10

    package var version: ServerVersion
    package var hosts = HostList()
    /// Public halves of the keys of those who look, who hold and release, and who set up.
    package var readers: [String] = []
    package var controllers: [String] = []
    /// Operators with names, and those of some groups only.
    package var operators = HostList()
    package var administrators: [String] = []
    package var name: String?
    package var listen: String
    package var store: String
    package var storeBytes: String
    package var tls: TLS?
    /// The tokens of accounts, if users have tokens as well; otherwise the lists above are the users.
    package var tokens: Tokens?

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
        # A host renews its lease every 30 s, so the server need not ask whether it is there. A closed path is found after
        # two of these.
        ping_interval: "3m"
        # Hosts send at most half of this at once.
        max_payload: \(tokens == nil ? "256KB" : "1MB")
        write_deadline: "10s"

        jetstream {
          store_dir: \(Self.quoted(store))
          max_file_store: \(storeBytes)
          max_memory_store: 256MB
        \(syncText)
        }

        \(tokens.map(tokensText) ?? accountsText)

        """
    }

    private func tokensText(_ tokens: Tokens) -> String {
        let system = tokens.accounts.first { $0.name == FleetAccounts.Account.system.rawValue }?.key ?? ""
        let accounts = tokens.accounts.map { "  # \($0.name)\n  \($0.key): \(Self.quoted($0.token))\n" }.joined()
        return """
            # Users have tokens, which keys of the accounts sign. The server keeps the accounts' own tokens in this folder: a newer
            # one, such as after `reach-fleet revoke`, replaces one of the list below, also after a restart.
            operator: \(Self.quoted(tokens.operatorToken))
            system_account: \(system)
            resolver {
              type: full
              dir: \(Self.quoted(store + "/accounts"))
              allow_delete: false
              interval: "2m"
            }
            resolver_preload {
            \(accounts)}
            """
    }

    // MARK: - Accounts

    /// The accounts of the fleet. The server checks the subject of what a client sends, but not where its answer goes:
    /// the acknowledgement of a message, or a stored message that is read, arrives wherever the client wants within its
    /// account. So the streams are in an account of their own, and hosts, readers and operators in others, into which
    /// answers go.
    package enum Account: String, Hashable, Sendable, CaseIterable {
        /// The streams and buckets, and who sets up.
        case streams = "REACH"
        case hosts = "HOSTS"
        case readers = "READERS"
        case controllers = "OPERATORS"

        /// What it may ask of the account with the streams.
        var services: [String] {
            switch self {
            case .streams: []
            case .hosts: FleetRights.hostServices
            case .readers: FleetRights.readerServices
            case .controllers: FleetRights.controllerServices
            }
        }
    }

    private var accountsText: String {
        """
        # The server checks the subject of what a client sends, but not the subject to which the answer goes. So hosts, readers
        # and operators have accounts of their own, which the answers do not leave, and import from REACH what they may ask.
        # The server's reports of connects and disconnects become a stream of REACH.
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
            exports: [
        \(exportsText)    ]
            imports: [
              { stream: { account: SYS, subject: "$SYS.ACCOUNT.HOSTS.CONNECT" }, to: "reach.v1.conn.up.HOSTS" }
              { stream: { account: SYS, subject: "$SYS.ACCOUNT.HOSTS.DISCONNECT" }, to: "reach.v1.conn.down.HOSTS" }
              \(Self.statusImport)
            ]
            users: [
        \(users(administrators, "who sets up", FleetRights.administrator))    ]
          }
          HOSTS {
            imports: [
        \(importsText(.hosts))      { stream: { account: OPERATORS, subject: "\(FleetNames.announcementSubject(ofKey: ">"))" },
                to: "\(FleetNames.subject(ofKey: ">", in: FleetNames.desired))" }
            ]
            users: [
        \(hostsText)    ]
          }
          READERS {
            imports: [
        \(importsText(.readers))      \(Self.statusImport)
            ]
            users: [
        \(users(readers, "who looks") { _ in .reader })    ]
          }
          OPERATORS {
            exports: [ { stream: "\(FleetNames.announcementSubject(ofKey: ">"))", accounts: [HOSTS] } ]
            imports: [
        \(importsText(.controllers))      \(Self.statusImport)
            ]
            users: [
        \(operatorsText)    ]
          }
        }
        """
    }

    private static let statusImport =
        "{ service: { account: SYS, subject: \"$SYS.REQ.SERVER.PING.VARZ\" }, to: \"\(FleetRights.serverSubject)\" }"

    private var exportsText: String {
        var importers: [String: [String]] = [:]
        for account in Account.allCases {
            for service in account.services { importers[service, default: []].append(account.rawValue) }
        }
        let services = importers.sorted { $0.key < $1.key }.map { service, accounts in
            return "      { service: \(Self.quoted(service)), accounts: [\(accounts.joined(separator: ", "))]"
                + (Self.isStreamed(service) ? ", response_type: \"stream\" }\n" : " }\n")
        }
        return services.joined()
    }

    /// Whether a service answers more than once: a reader asks once for many messages.
    static func isStreamed(_ service: String) -> Bool { service.hasUTF8Prefix("$JS.API.CONSUMER.MSG.NEXT.") }

    private func importsText(_ account: Account) -> String {
        account.services.map { "      { service: { account: REACH, subject: \(Self.quoted($0)) } }\n" }.joined()
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

    private func users(_ keys: [String], _ title: String, _ rights: (String) -> FleetRights) -> String {
        keys.map { Self.user($0, title, rights($0)) }.joined()
    }

    private var operatorsText: String {
        users(controllers, "who holds and releases") { .controller($0) }
            + operators.entries.map { entry in
                let whose = entry.groups.isEmpty ? "" : " of \(entry.groups.joined(separator: ", "))"
                return users(entry.keys, "operator \(entry.host)\(whose)") {
                    .controller($0, groups: entry.groups, hosts: hosts)
                }
            }.joined()
    }

    private var hostsText: String {
        hosts.entries.map { entry in
            users(entry.keys, "host \(entry.host)") { _ in .host(entry.host, groups: entry.groups) }
        }.joined()
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
