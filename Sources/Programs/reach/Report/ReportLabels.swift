internal import ReachCore

/// What the user says about a report: its title, and the customer that it is for.
struct ReportLabels: Hashable {
    var title: String?
    /// The number by which the provider knows the customer.
    var customer: String?
    /// The line's address, where the user says it.
    var publicAddress: IPAddress?
}
