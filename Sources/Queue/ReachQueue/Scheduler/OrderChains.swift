/// Requests that are sent one after the other: those of one owner with the same order key, or with the same name.
///
/// Invariant: a chain exists while it has members, and each key has one chain at most.
struct OrderChains: Sendable {
    struct Chain: Sendable {
        fileprivate let key: Key
        fileprivate var members = LinkedLists<QueueEntry>.Ends()
    }

    /// Names of different kinds and of different owners never meet.
    struct Key: Hashable, Sendable {
        enum Kind: UInt8, Sendable { case order, unique, coalesce }

        let owner: UInt32
        let kind: Kind
        let name: String

        /// The order that a request belongs to; `nil` for a request that is in no order.
        init?(owner: UInt32, orderKey: String?, uniqueness: RequestUniqueness) {
            switch uniqueness {
            case .unique(let name, _): (kind, self.name) = (.unique, name)
            case .coalesce(let name): (kind, self.name) = (.coalesce, name)
            case .joined: return nil
            case .none:
                guard let orderKey else { return nil }
                (kind, name) = (.order, orderKey)
            }
            self.owner = owner
        }
    }

    private var chains = Slab<Chain>()
    private var indices: [Key: SlabIndex<Chain>] = [:]
    private var links = LinkedLists<QueueEntry>()

    func key(of chain: SlabIndex<Chain>) -> Key { chains[chain].key }

    /// The first request of the order that is not over.
    func head(of key: Key) -> Slot? { indices[key].flatMap(head) }

    func head(of chain: SlabIndex<Chain>) -> Slot? { chains[chain].members.first }

    /// The members before a request, the first first.
    func members(of chain: SlabIndex<Chain>, before slot: Slot) -> [Slot] {
        var members: [Slot] = []
        var next = head(of: chain)
        while let member = next, member != slot {
            members.append(member)
            next = links.following(member)
        }
        return members
    }

    mutating func append(_ slot: Slot, to key: Key) -> SlabIndex<Chain> {
        let chain = indices[key] ?? chains.insert(Chain(key: key))
        indices[key] = chain
        links.append(slot, to: &chains[chain].members)
        return chain
    }

    /// - Returns: The member after it.
    mutating func remove(_ slot: Slot, from chain: SlabIndex<Chain>) -> Slot? {
        let next = links.following(slot)
        links.remove(slot, from: &chains[chain].members)
        if chains[chain].members.isEmpty {
            indices[chains[chain].key] = nil
            chains.remove(chain)
        }
        return next
    }
}
