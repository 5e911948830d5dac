// The values that a monitor hands out (states, changes, paths, targets) live in ReachCore, which the command line and
// the daemon use without this library. Whoever links the library needs both, and should write one import.
@_exported public import ReachCore
