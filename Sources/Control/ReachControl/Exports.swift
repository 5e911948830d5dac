// The client that a monitor needs is a module of its own, so that a program with a monitor builds neither the server
// nor the queue. Whoever speaks to the daemon in other ways needs both modules, and should need only one import.
@_exported public import ReachClient
