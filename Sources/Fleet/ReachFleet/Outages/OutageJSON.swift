package import ReachCore

extension JSONWriter {
    /// An outage for programs.
    ///
    /// - Parameter hosts: The members' identities.
    package mutating func outage(_ outage: Outage, hosts: [String]) {
        object { json in
            json.field("v", 1)
            json.field("type", "fleet-outage")
            json.field("open", outage.isOpen)
            json.field("shared", object: { $0.extent(outage.extent) })
            json.field("also", array: { json in for extent in outage.others { json.object { $0.extent(extent) } } })
            json.field("first", outage.first)
            json.field("last", outage.last)
            json.field("presumed", Int64(outage.members.count - outage.confirmed))
            json.field("confirmed", Int64(outage.confirmed))
            json.field("reason", outage.reason?.rawValue)
            json.field("back", Int64(outage.back))
            json.field("first_back", outage.firstBack?.description)
            json.field("last_back", outage.lastBack?.description)
            json.field("hosts", outage.members.map { hosts[$0] })
        }
    }

    private mutating func extent(_ extent: Outage.Extent) {
        field("by", extent.trait.name)
        field("value", extent.trait.value)
        field("affected", Int64(extent.affected))
        field("known", Int64(extent.known))
    }
}
