/// How often silence was looked for, and found.
package struct SilenceStatistics: Hashable, Sendable {
    /// Looks at the sockets after a timeout.
    package var surveys: UInt64 = 0
    /// Tests that sockets were the reason for.
    package var tests: UInt64 = 0
    /// Tests after which the path was closed.
    package var silent: UInt64 = 0
    /// Connections that were begun by silent paths, to notice their return.
    package var calls: UInt64 = 0

    package init() {}
}
