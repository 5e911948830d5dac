/// What counts as an outage.
package struct OutageOptions: Hashable, Sendable {
    /// The longest time between two departures of one outage.
    package var within: Duration = .seconds(5)
    /// The traits that are compared.
    package var by = TraitChoice.all
    /// An outage concerns at least this many hosts. Fewer coincide by chance.
    package var leastHosts = 5
    /// And at least this many of a hundred that have the trait.
    package var leastPercent = 50
    /// The longest time from the first departure to the last, so that the steady coming and going in a large fleet is no
    /// outage. Leases of hosts that vanish together end within one lease of each other.
    package var longest: Duration = .seconds(600)

    package init() {}
}
