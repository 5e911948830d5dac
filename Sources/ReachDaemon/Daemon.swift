/// The daemon.
package enum Daemon {}
