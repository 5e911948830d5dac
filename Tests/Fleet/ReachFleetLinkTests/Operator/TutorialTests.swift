import Glibc
import ReachCore
import ReachLoop
import ReachTesting
import Testing

/// Types the pages for operators, word for word, with a real server, real daemons and real agents.
@Suite(.enabled(if: TypedPage.whyNot == nil, "\(TypedPage.whyNot ?? "")"))
struct TutorialTests {
    /// What `doctor` warns of depends on the server's version: where another one is installed than the tutorial shows,
    /// the warnings and their remedies are left to the tests of the findings.
    private static func withoutWarnings(_ lines: [String]) -> [String] {
        var isWarning = false
        return lines.filter { line in
            isWarning = line.hasPrefix("warning: ") || (isWarning && line.hasPrefix("  "))
            return !isWarning
        }
    }

    private static func compare(_ page: TypedPage, _ results: [TypedPage.Result], errors: String?) throws {
        #expect(results.count == page.steps.count)
        let version =
            try ChildProcess.run(["nats-server", "--version"]).split(separator: "v").last.map(String.init) ?? ""
        let isShown = page.steps.contains { step in
            step.output.contains { $0.contains("nats-server \(version.filter { !$0.isNewline }) has known faults") }
        }
        for (step, result) in zip(page.steps, results) {
            // What it finds depends on the server.
            let mayFind = step.command == "reach-fleet doctor"
            #expect(
                result.status == "0" || mayFind && result.status == "1", "\(step.command): \(result) \(errors ?? "")")
            // Where the page shows nothing, what is printed is not its subject.
            guard !step.output.isEmpty else { continue }
            let (shown, printed) =
                isShown
                ? (step.output, result.output)
                : (
                    Self.withoutWarnings(step.output), Self.withoutWarnings(result.output)
                )
            #expect(printed.map(TypedPage.comparable) == shown.map(TypedPage.comparable), "\(step.command)")
        }
    }

    @Test func `the tutorial works as it is written, and prints what it shows`() throws {
        let page = TypedPage("Documentation/fleet/Tutorial.md", until: "## A ")
        #expect(page.steps.count >= 20)
        let directory = try TemporaryDirectory()
        try ChildProcess.run(["mkdir", directory.path + "/etc", directory.path + "/run"])
        // The package makes the group, and systemd hands the key over.
        let files = page.blocks.map { $0.replacing("group = \"reach-fleet\"", with: "group = \"root\"") }
        try directory.file("etc/reach.toml", try #require(files.first { $0.hasPrefix("[journal]") }) + "\n")
        try directory.file("etc/reach-fleet.toml", try #require(files.first { $0.hasPrefix("servers") }) + "\n")
        let stage = """
            sudo() { "$@"; }
            systemctl() {
                case "$*" in
                "restart reachd") reachd --config etc/reach.toml --socket run/socket --state run/state >>reachd.log 2>&1 & ;;
                "enable --now reach-fleet")
                    CREDENTIALS_DIRECTORY=$PWD/etc reach-fleet agent --config etc/reach-fleet.toml --socket run/socket \\
                        --state run --runtime run >>agent.log 2>&1 &
                    wait_for 'reach-fleet status | grep "1 host: 1 online"'
                    ;;
                *) echo "what is 'systemctl $*'?" ;;
                esac
            }

            """
        let results = try page.type(in: directory, stage: stage) { command in
            let here = command.replacing("/etc/reach/", with: "etc/")
            // A person takes a moment before typing on.
            return command.hasSuffix("&") ? here.replacing(" &", with: " 2>nats.log &") + TypedPage.serverListens : here
        }
        try Self.compare(page, results, errors: SmallFile.text(directory.path + "/errors"))
        let events = zip(page.steps, results).first { $0.0.command.hasPrefix("reach-fleet events") }?.1.output
        #expect(events?.contains { $0.contains("internet reachable") } == true, "\(events ?? [])")
    }

    /// Three tills of a site, of which the page's watch loses and regains sight.
    private static let firstWeek = """
        start_agent() {
            reach-fleet agent --config $1/reach-fleet.toml --socket $1/socket --state $1 --runtime $1 >>$1/log 2>&1 &
            echo $! >$1/pid
        }
        start_host() {
            printf '[journal]\\nevents = ["status"]\\n[queue]\\nfleet_group = "root"\\n' >$1/reach.toml
            printf 'servers = ["nats://127.0.0.1:4333"]\\nhost = "%s"\\ncredentials = "%s"\\ngroups = ["tills", "berlin"]\\n' \\
                $1 "$PWD/$1.nk" >$1/reach-fleet.toml
            printf 'accept = ["queue-hold"]\\n' >>$1/reach-fleet.toml
            reachd --config $1/reach.toml --socket $1/socket --state $1/state >>$1/log 2>&1 &
            start_agent $1
        }
        for name in admin operator reader anna ben till-1 till-2 till-3 till-9; do reach-fleet key $name.nk >$name.pub; done
        for host in till-1 till-2 till-3; do
            echo "$host $(cat $host.pub) tills berlin site=berlin-7" >>hosts
            mkdir $host
        done
        echo "till-9 $(cat till-9.pub) tills" >>hosts
        printf 'anna %s\\nben %s berlin\\n' $(cat anna.pub ben.pub) >operators
        publish() {
            reach-fleet config --hosts hosts --operators operators --admin $(cat admin.pub) --operator $(cat operator.pub) \\
                --reader $(cat reader.pub) --listen 127.0.0.1:4333 --store ./store --for 2.9.10 >nats.conf
        }
        publish
        nats-server -c nats.conf 2>nats.log &
        wait_for ': </dev/tcp/127.0.0.1/4333'
        export REACH_FLEET_SERVER=nats://127.0.0.1:4333 REACH_FLEET_KEY=reader.nk
        reach-fleet setup --key-file admin.nk --hosts hosts --operators operators
        for host in till-1 till-2 till-3; do start_host $host; done
        wait_for 'reach-fleet status | grep "3 online"'
        printf '#!/bin/sh\\necho "$REACH_SENTENCE" >>%s/said\\n' "$PWD" >notify
        chmod +x notify

        """

    /// The hosts go and come while the page's command runs.
    private static func watched(_ command: String) -> String {
        """
        \(command) --after 1s --settle 1s >watched &
        watching=$!
        wait_for 'grep watching watched'
        for host in till-1 till-2 till-3; do kill -9 $(cat $host/pid); done
        wait_for 'grep " down " watched'
        for host in till-1 till-2 till-3; do start_agent $host; done
        wait_for 'grep " up " watched'
        wait_for 'grep "are back" said'
        kill $watching
        grep -v watching watched
        """
    }

    @Test func `the first week works as it is written, and prints what it shows`() throws {
        let page = TypedPage("Documentation/fleet/FirstWeek.md")
        #expect(page.steps.count >= 18)
        let directory = try TemporaryDirectory()
        let results = try page.type(in: directory, stage: Self.firstWeek) { command in
            let here = command.replacing("/var/lib/fleet/", with: "./")
                .replacing("/usr/share/reach/hooks/", with: "./")
            if here.hasPrefix("nats-server --signal reload") { return here + "\nsleep 1" }
            return here.hasPrefix("reach-fleet watch --alerts") ? Self.watched(here) : here
        }
        try Self.compare(page, results, errors: SmallFile.text(directory.path + "/errors"))
    }

    @Test func `the page about tokens works as it is written, and prints what it shows`() throws {
        let page = TypedPage("Documentation/fleet/Tokens.md")
        #expect(page.steps.count >= 20)
        let directory = try TemporaryDirectory()
        let results = try page.type(in: directory, stage: "") { command in
            if command.hasPrefix("nats-server -c") {
                return command.replacing(" &", with: " 2>nats.log &") + TypedPage.serverListens
            }
            // A person takes a moment before typing on.
            if command.hasSuffix("> enrolled &") { return command + "\nwait_for 'grep waiting enrolled'" }
            return command.hasPrefix("tail -1 enrolled") ? "wait_for 'grep refused enrolled'\n" + command : command
        }
        try Self.compare(page, results, errors: SmallFile.text(directory.path + "/errors"))
    }

    /// The service of the distribution, and its places in the folder of the test.
    private static let service = """
        mkdir etc lib
        sudo() { "$@"; }
        systemctl() {
            case "$1" in stop | restart) [ -z "$server" ] || { kill $server; wait $server; server=; } ;; esac
            case "$1" in
            start | restart)
                nats-server -c etc/nats-server.conf 2>>nats.log &
                server=$!
                wait_for ': </dev/tcp/192.0.2.2/4222'
                ;;
            esac
            return 0
        }

        """

    @Test(.enabled(if: TestProgram.path("openssl") != nil, "openssl is not here"))
    func `the page about the server works as it is written, and prints what it shows`() throws {
        let page = TypedPage("Documentation/fleet/Server.md")
        #expect(page.steps.count >= 20)
        let directory = try TemporaryDirectory()
        let results = try page.type(in: directory, stage: Self.service) { command in
            command.replacing("/etc/nats", with: "\(directory.path)/etc/nats")
                .replacing("/var/lib", with: "\(directory.path)/lib")
                // Neither the user nor the group of the package is here.
                .replacing("-o root -g nats ", with: "").replacing("-o nats -g nats ", with: "")
        }
        try Self.compare(page, results, errors: SmallFile.text(directory.path + "/errors"))
    }

    // MARK: - A newer server

    private static let newer = getenv("REACH_NATS_SERVER").map { String(cString: $0) }

    /// The server's unit with the file beside it, a daemon and an agent, and a link whose changes are events.
    private static func upgraded(_ newer: String) -> String {
        """
        mkdir -p lib etc system till
        mkdir nats-server-v2.15.1-linux-amd64
        cp '\(newer)' nats-server-v2.15.1-linux-amd64/nats-server
        tar -czf nats-server-v2.15.1-linux-amd64.tar.gz nats-server-v2.15.1-linux-amd64
        rm -r nats-server-v2.15.1-linux-amd64
        sudo() { "$@"; }
        systemctl() {
            case "$1" in stop | restart) kill $server; wait $server ;; esac
            case "$1" in
            start | restart)
                started="nats-server -c etc/nats-server.conf"
                [ ! -e system/nats-server.service.d/newer.conf ] ||
                    started=$(sed -n 's/^ExecStart=//p' system/nats-server.service.d/newer.conf | tail -n 1)
                $started 2>>nats.log &
                server=$!
                wait_for ': </dev/tcp/127.0.0.1/4333'
                ;;
            esac
            return 0
        }
        # Two events.
        happen() {
            before=$(journal | wc -l)
            ip link set isp0 down
            wait_for '[ $(journal | wc -l) -gt $before ]'
            ip link set isp0 up
            wait_for '[ $(journal | wc -l) -gt $((before + 1)) ]'
        }
        journal() { reach-fleet self --show --config till/reach-fleet.toml --socket till/socket; }
        is_back() { reach-fleet status | grep -q ^1.host..1.online && ! reach-fleet status | grep -q presumed; }
        # All that the journal has is in the stream.
        stored() { wait_for '[ $(reach-fleet events --json --since 1h | wc -l) = $(journal | wc -l) ]'; }
        for name in admin operator reader till-1; do reach-fleet key $name.nk >$name.pub; done
        echo "till-1 $(cat till-1.pub) tills" >hosts
        sh publish 2.9.10
        cp nats.conf etc/nats-server.conf
        systemctl start
        export REACH_FLEET_SERVER=nats://127.0.0.1:4333 REACH_FLEET_KEY=reader.nk
        reach-fleet setup --key-file admin.nk --hosts hosts
        printf '[journal]\\nevents = ["status"]\\n' >till/reach.toml
        printf 'servers = ["nats://127.0.0.1:4333"]\\nhost = "till-1"\\ncredentials = "%s"\\n' $PWD/till-1.nk \\
            >till/reach-fleet.toml
        reachd --config till/reach.toml --socket till/socket --state till/state >till/log 2>&1 &
        reach-fleet agent --config till/reach-fleet.toml --socket till/socket --state till --runtime till >>till/log 2>&1 &
        wait_for 'reach-fleet status | grep "1 host: 1 online"'

        """
    }

    @Test(.enabled(if: newer != nil && TypedPage.whyNot == nil, "REACH_NATS_SERVER names no newer nats-server"))
    func `the page about a newer server works as it is written, and each event survives both ways`() throws {
        let page = TypedPage("Documentation/fleet/Upgrade.md")
        #expect(page.steps.count >= 25)
        let directory = try TemporaryDirectory()
        func here(_ text: String) -> String {
            text.replacing("/etc/systemd/system", with: "\(directory.path)/system")
                .replacing("/usr/local/bin", with: "\(directory.path)/bin")
                .replacing("/etc/nats", with: "\(directory.path)/etc/nats")
                .replacing("/var/lib", with: "\(directory.path)/lib").replacing("-o root -g nats ", with: "")
        }
        try ChildProcess.run(["mkdir", directory.path + "/bin"])
        try directory.file(
            "publish", here(try #require(page.blocks.first { $0.hasPrefix("reach-fleet config") })) + "\n")
        try directory.file("newer.conf", here(try #require(page.blocks.first { $0.hasPrefix("[Service]") })) + "\n")
        let results = try page.type(in: directory, stage: Self.upgraded(try #require(Self.newer))) { command in
            // Events happen before, while the server is away, and after.
            let typed = here(command)
            if typed.hasPrefix("tar -xzf") { return "happen; stored\n" + typed }
            if typed.hasPrefix("sudo tar") { return typed + "\nhappen" }
            if typed.hasPrefix("reach-fleet doctor") { return "stored; happen; stored\n" + typed }
            // Hosts take a moment to be back.
            if typed == "reach-fleet status" { return "wait_for is_back\n" + typed }
            return typed.hasPrefix("reach-fleet events") ? "stored\n" + typed + " --json" : typed
        }
        try Self.compare(page, results, errors: SmallFile.text(directory.path + "/errors"))
        let numbers = try (results.last?.output ?? []).map { try JSONReader.read(Array($0.utf8))["n"]?.integer }
        #expect(numbers.count >= 9)
        #expect(numbers == numbers.indices.map { Int64($0 + 1) }, "\(results.last?.output ?? [])")
    }
}
