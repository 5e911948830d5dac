extension [UInt8] {
    /// Appends a number in decimal digits, with zeros in front up to `width`, and no string in between.
    package mutating func appendDigits(_ number: Int64, width: Int = 1) {
        if number < 0 { append(UInt8(ascii: "-")) }
        let start = count
        var rest = number.magnitude
        repeat {
            append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        while count - start < width { append(UInt8(ascii: "0")) }
        self[start...].reverse()
    }
}
