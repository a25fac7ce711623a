// SPDX-License-Identifier: Apache-2.0
import PushSimulator
import Terminal
import WireFormat

extension SimulatorFigures {
    /// The figures as one object, for programs.
    var json: JSONValue {
        let reasons = rejectedBy.sorted { $0.key < $1.key }.map { JSONMember(name: $0.key, value: .integer($0.value)) }
        return [
            "requests": .integer(requests), "accepted": .integer(accepted), "rejectedBy": .object(reasons),
            "distinctTokens": .integer(distinctTokens), "distinctIds": .integer(distinctIDs),
            "duplicates": .integer(duplicates), "connectionsOpened": .integer(connectionsOpened),
            "peakStreams": .integer(peakStreams), "refused": .integer(refused), "goAways": .integer(goAways),
            "cuts": .integer(cuts), "validated": .integer(validated), "tokenRequests": .integer(tokenRequests),
            "tokenRefusals": .integer(tokenRefusals),
        ]
    }

    /// The figures as one line, for people.
    var text: String {
        var parts = ["\(Quantity.count(requests)) requests", "\(Quantity.count(accepted)) accepted"]
        parts += rejectedBy.sorted { $0.key < $1.key }.map { "\(Quantity.count($0.value)) \($0.key)" }
        if refused > 0 { parts.append("\(Quantity.count(refused)) refused streams") }
        if validated > 0 { parts.append(validated == 1 ? "1 dry run" : "\(Quantity.count(validated)) dry runs") }
        if tokenRequests > 0 {
            let refusals = tokenRefusals > 0 ? " (\(Quantity.count(tokenRefusals)) refused)" : ""
            let requests = tokenRequests == 1 ? "1 request" : "\(Quantity.count(tokenRequests)) requests"
            parts.append("\(requests) for an access token\(refusals)")
        }
        if duplicates > 0 { parts.append("\(Quantity.count(duplicates)) accepted a second time") }
        let connections = connectionsOpened == 1 ? "1 connection" : "\(Quantity.count(connectionsOpened)) connections"
        parts.append("\(connections), at most \(Quantity.count(peakStreams)) streams on one")
        return parts.joined(separator: ", ")
    }
}
