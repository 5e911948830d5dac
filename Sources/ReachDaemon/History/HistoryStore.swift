package import ReachCore
package import ReachLoop

/// Where the writer of a history puts its lines. It is used by the writer's thread alone, and may take its time.
package protocol HistoryStore: AnyObject {
    /// The last record of the run before, and when that run was last seen.
    var lastSign: (entry: HistoryEntry?, time: Timestamp?) { get }
    /// How many lines there are in the file that is appended to.
    var count: Int { get }
    /// Appends whole lines: all of them, or none.
    func append(_ lines: [UInt8], count: Int) throws(SystemError)
    /// Begins a new file; the one before the last is gone.
    func rotate() throws(SystemError)
    /// Leaves a sign of life.
    func touch()
    /// Sees to it that what was written outlasts a loss of power.
    func sync()
}
