import ReachControl
import ReachCore
import ReachTesting

/// The schema of the fleet's lines, as `reach schema fleet` prints it.
let fleetSchema: [UInt8] = {
    var json = JSONWriter()
    LineSchema().write(.fleet, to: &json)
    return json.bytes
}()

/// What is wrong with lines, by the schema.
func fleetFaults(in lines: [String], hasEveryKey: Bool = false) throws -> [String] {
    guard SchemaCheck.isAvailable else { return [] }
    return try SchemaCheck.faults(
        in: lines, by: String(decoding: fleetSchema, as: UTF8.self), hasEveryKey: hasEveryKey)
}
