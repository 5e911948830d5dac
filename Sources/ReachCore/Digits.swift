extension [UInt8] {
    /// Appends a number in decimal digits, with zeros in front up to `width`, and nothing in between.
    package mutating func appendDigits(_ number: Int64, width: Int = 1) {
        if number < 0 { append(UInt8(ascii: "-")) }
        var rest = number.magnitude
        var place: UInt64 = 1
        var digits = 1
        while rest / place >= 10 || digits < width {
            place *= 10
            digits += 1
        }
        while place > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / place))
            rest %= place
            place /= 10
        }
    }
}
