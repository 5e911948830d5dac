/// One lookup on which a verdict rests.
package struct PathFinding: Hashable, Sendable {
    package let destination: IPAddress
    /// What the kernel said.
    package let answer: RouteAnswer
    /// What was made of it.
    package let path: NetworkPath
    /// Of the lookups in its family, this is the one whose path was told.
    package var isDecisive = false

    package init(destination: IPAddress, answer: RouteAnswer, path: NetworkPath, isDecisive: Bool = false) {
        self.destination = destination
        self.answer = answer
        self.path = path
        self.isDecisive = isDecisive
    }
}
