internal import ReachCore

extension ResolverConfiguration {
    /// The options of resolv.conf(5) that decide what is sent, with the C library's defaults and limits (resolv.h).
    package struct Options: Hashable, Sendable {
        /// The number of dots from which on a name is tried as it is before the search list applies to it.
        package var dots = 1
        /// How long a server is awaited, and how often each is asked.
        package var timeout: Duration = .seconds(5)
        package var attempts = 2
        /// Whether each question begins with another server.
        package var rotates = false
        package var isByTCP = false
        /// Whether questions have EDNS. Without the option the C library asks without, and some forwarders drop what
        /// they do not know.
        package var hasExtensions = false
        package var isWithoutIPv6 = false
        /// Whether a name without dots is only looked for in the domains of the search list.
        package var completesPlainNames = false

        package init() {}

        init(_ words: [Substring]) {
            self.init()
            for word in words {
                let parts = word.split(scalar: ":", maxSplits: 1)
                let number = parts.count > 1 ? Int(parts[1]).map { max(0, $0) } : nil
                switch (parts[0], number) {
                case ("ndots", let number?): dots = min(number, 15)
                case ("timeout", let number?): timeout = .seconds(min(max(number, 1), 30))
                case ("attempts", let number?): attempts = min(max(number, 1), 5)
                case ("rotate", _): rotates = true
                case ("use-vc", _): isByTCP = true
                case ("edns0", _): hasExtensions = true
                case ("no-aaaa", _): isWithoutIPv6 = true
                case ("no-tld-query", _): completesPlainNames = true
                default: break
                }
            }
        }

        /// The time for a server in the first round, and the number of rounds, of which each takes twice as long.
        ///
        /// Together they take as long as the C library's attempts, so that a server has as much time as the
        /// administrator says. The first round is shorter, since a lost datagram should not cost seconds.
        ///
        /// - Parameter longest: The longest first round.
        package func rounds(longest: Duration) -> (patience: Duration, count: Int) {
            let total = timeout * attempts
            var count = 1
            while total / ((1 << count) - 1) > longest, count < 10 { count += 1 }
            return (total / ((1 << count) - 1), count)
        }
    }

    /// The names that stand for a host, in the order in which the C library tries them.
    func candidates(for host: String) -> [String] {
        if host.hasUTF8Suffix(".") { return [String(host.dropLast())] }
        let dots = host.utf8.count { $0 == UInt8(ascii: ".") }
        var names = searchList.map { $0.isEmpty ? host : host + "." + $0 }
        if dots >= options.dots {
            names.insert(host, at: 0)
        } else if dots > 0 || searchList.isEmpty || !options.completesPlainNames {
            names.append(host)
        }
        var seen: Set<String> = []
        return names.filter { seen.insert($0.lowercased()).inserted }
    }
}
