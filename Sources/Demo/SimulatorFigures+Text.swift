// SPDX-License-Identifier: Apache-2.0
import APNsSimulator
import Configuration
import Terminal

extension SimulatorFigures {
    /// For programs: one object.
    var json: JSONTree {
        .object([
            "requests": .integer(Int64(requests)), "accepted": .integer(Int64(accepted)),
            "rejectedBy": .object(rejectedBy.mapValues { .integer(Int64($0)) }),
            "distinctTokens": .integer(Int64(distinctTokens)), "distinctIds": .integer(Int64(distinctIDs)),
            "duplicates": .integer(Int64(duplicates)), "connectionsOpened": .integer(Int64(connectionsOpened)),
            "peakStreams": .integer(Int64(peakStreams)), "refused": .integer(Int64(refused)),
            "goAways": .integer(Int64(goAways)), "cuts": .integer(Int64(cuts)),
        ])
    }

    /// For people: one line.
    var text: String {
        var parts = ["\(Quantity.count(requests)) requests", "\(Quantity.count(accepted)) accepted"]
        parts += rejectedBy.sorted { $0.key < $1.key }.map { "\(Quantity.count($0.value)) \($0.key)" }
        if refused > 0 { parts.append("\(Quantity.count(refused)) refused streams") }
        if duplicates > 0 { parts.append("\(Quantity.count(duplicates)) accepted a second time") }
        let connections = connectionsOpened == 1 ? "1 connection" : "\(Quantity.count(connectionsOpened)) connections"
        parts.append("\(connections), at most \(Quantity.count(peakStreams)) streams on one")
        return parts.joined(separator: ", ")
    }
}
