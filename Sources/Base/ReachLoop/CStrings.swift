internal import Glibc

/// The texts as C takes the arguments and the environment of a program: an array that ends with a null pointer.
package enum CStrings {
    /// - Parameter body: Called with the array, which is freed afterwards.
    package static func with<Result, Failure: Error>(
        _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let array = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: texts.count + 1)
        for (place, text) in texts.enumerated() { array[place] = strdup(text) }
        array[texts.count] = nil
        defer {
            for place in texts.indices { free(array[place]) }
            array.deallocate()
        }
        return try body(array)
    }
}
