internal import ReachCore

/// The neighbours on which paths depend.
struct PathNeighbours {
    private(set) var all: Set<Neighbour.Key> = []
    /// Those of them that pass packets on.
    private(set) var routers: Set<Neighbour.Key> = []

    init() {}

    /// The neighbours of the paths that were found.
    init(_ finder: PathFinder) { (all, routers) = (finder.neighbours, finder.routers) }

    mutating func add(_ finder: PathFinder) {
        all.formUnion(finder.neighbours)
        routers.formUnion(finder.routers)
    }
}
