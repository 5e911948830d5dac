/// Requests that are sent one after the other: those of one owner with the same order key, or of the same name.
struct OrderChains: Sendable {
    private struct Chain: Sendable {
        let key: Key
        var members = LinkedLists.Ends()
    }

    /// Names of different kinds and of different owners never meet.
    struct Key: Hashable, Sendable {
        enum Kind: UInt8, Sendable { case order, unique, coalesce }

        let owner: UInt32
        let kind: Kind
        let name: String
    }

    private var chains: [Chain] = []
    private var free: [Int32] = []
    private var numbers: [Key: Int32] = [:]
    private var links = LinkedLists()

    mutating func grow(entries: Int) { links.grow(to: entries) }

    /// The chain a request belongs to by its keys; `nil` for one that stands alone.
    static func key(owner: UInt32, orderKey: String?, uniqueness: RequestUniqueness) -> Key? {
        switch uniqueness {
        case .unique(let name, _): Key(owner: owner, kind: .unique, name: name)
        case .coalesce(let name): Key(owner: owner, kind: .coalesce, name: name)
        case .none: orderKey.map { Key(owner: owner, kind: .order, name: $0) }
        }
    }

    func key(of chain: Int32) -> Key { chains[Int(chain)].key }

    /// The first of those that are not over.
    func head(of key: Key) -> Int32? { numbers[key].map { chains[Int($0)].members.first } }

    func isHead(_ entry: Int32, of chain: Int32) -> Bool { chains[Int(chain)].members.first == entry }

    func head(of chain: Int32) -> Int32 { chains[Int(chain)].members.first }

    /// All of a chain, the first first.
    func members(of chain: Int32) -> [Int32] {
        var members: [Int32] = []
        var next: Int32? = chains[Int(chain)].members.first
        while let entry = next {
            members.append(entry)
            next = links.following(entry)
        }
        return members
    }

    /// - Returns: The chain's number.
    mutating func append(_ entry: Int32, to key: Key) -> Int32 {
        let chain: Int32
        if let present = numbers[key] {
            chain = present
        } else if let reused = free.popLast() {
            chain = reused
            chains[Int(reused)] = Chain(key: key)
            numbers[key] = reused
        } else {
            chain = Int32(chains.count)
            chains.append(Chain(key: key))
            numbers[key] = chain
        }
        links.append(entry, to: &chains[Int(chain)].members)
        return chain
    }

    /// - Returns: The one behind it.
    mutating func remove(_ entry: Int32, from chain: Int32) -> Int32? {
        let next = links.following(entry)
        links.remove(entry, from: &chains[Int(chain)].members)
        if chains[Int(chain)].members.isEmpty {
            numbers[chains[Int(chain)].key] = nil
            free.append(chain)
        }
        return next
    }
}
