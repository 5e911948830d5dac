/// What became of a name that the resolver was asked for.
package enum NameAnswer: Hashable, Sendable {
    case addresses([IPAddress])
    /// The name exists nowhere, or has no address.
    case noAddress
    /// The resolver could not be asked, or could not find out.
    case notAsked
}
