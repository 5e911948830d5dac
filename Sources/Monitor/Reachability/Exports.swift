// The values that a monitor returns (states, changes, paths, targets) belong to ReachCore, which the command line and
// the daemon use without this library. Users of the library need both modules, and should need only one import.
@_exported public import ReachCore
