/// The version of all programs and packages of this project. `contrib/release` sets it here, in Debian's changelog and
/// in the other packages' descriptions, and `make lint` compares them.
package enum ProjectVersion {
    package static let number = "0.1.0"
}
