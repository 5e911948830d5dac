import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachTerminal

/// A fleet of the product's own machines against a real engine, with an oracle.
///
///     fleetsim [--server URL]... [--key-file FILE] [--keys FOLDER] [--control COMMAND]
///              [--hosts N] [--connections N] [--lease 5s] [--seed N] [--endless]
///              [--time 60s] [--outage N] [--outage-start 15s] [--outage-time 25s] [--churn PERCENT] [--clones N] [--wrong-clocks N]
///              [--revoked N] [--absence 3d] [--absence-events N] [--return-events N] [--kill-leader]
///
/// The streams exist (`reach-fleet setup`). A provider fails and comes back, machines are there twice, keys are
/// revoked, the engine is away for days, all hosts come back at once: what the options ask for. It prints figures, and
/// what differs between the engine and what happened, and ends with 1 if anything does. With --endless the provider
/// stays away until the program is killed.
@main enum Main {
    static func main() {
        guard let options = options() else {
            StandardError.write("fleetsim: usage: see the comment of Main.swift\n")
            exit(2)
        }
        do {
            var run = try FleetRun(options)
            exit(try run.run() ? 0 : 1)
        } catch {
            StandardError.write("fleetsim: \(error)\n")
            exit(1)
        }
    }

    private static var times: [String: WritableKeyPath<SimulationOptions, Duration>] {
        [
            "--time": \.time, "--lease": \.lease, "--outage-start": \.outageStart, "--outage-time": \.outageTime,
            "--absence": \.absence,
        ]
    }

    private static var numbers: [String: WritableKeyPath<SimulationOptions, Int>] {
        [
            "--hosts": \.hosts, "--connections": \.connections, "--outage": \.outage, "--churn": \.churn,
            "--clones": \.clones, "--wrong-clocks": \.wrongClocks, "--revoked": \.revoked,
            "--absence-events": \.absenceEvents, "--return-events": \.returnEvents,
        ]
    }

    private static var texts: [String: WritableKeyPath<SimulationOptions, String?>] {
        [
            "--key-file": \.keyFile, "--keys": \.keys, "--control": \.control,
        ]
    }

    private static func options() -> SimulationOptions? {
        var options = SimulationOptions()
        var servers: [String] = []
        var words = CommandLine.arguments.dropFirst()
        while let name = words.popFirst() {
            if name == "--endless" {
                options.isEndless = true
            } else if name == "--kill-leader" {
                options.killsLeader = true
            } else if let value = words.popFirst() {
                if name == "--server" {
                    servers.append(value)
                } else if let key = texts[name] {
                    options[keyPath: key] = value
                } else if let key = times[name], let time = DurationText.parse(value) {
                    options[keyPath: key] = time
                } else if let key = numbers[name], let number = Int(value), number >= 0 {
                    options[keyPath: key] = number
                } else if name == "--seed", let number = UInt64(value) {
                    options.seed = number
                } else {
                    return nil
                }
            } else {
                return nil
            }
        }
        if !servers.isEmpty { options.servers = servers }
        options.connections = max(options.connections, 1)
        return options
    }
}
