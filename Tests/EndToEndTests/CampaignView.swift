// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A campaign as the API shows it.
struct CampaignView: CustomStringConvertible {
    var state: String
    var reason: String?
    var counts: [String: Int]
    var filteredBy: [String: Int]
    var rejectedBy: [String: Int]

    init(_ bytes: [UInt8]) throws {
        guard let json = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else {
            throw Unexpected("no JSON object: \(String(decoding: bytes, as: UTF8.self))")
        }
        try self.init(json: json)
    }

    init(json: [String: Any]) throws {
        guard let state = json["state"] as? String, let counts = json["counts"] as? [String: Int],
            let filteredBy = json["filteredBy"] as? [String: Int], let rejectedBy = json["rejectedBy"] as? [String: Int]
        else { throw Unexpected("no campaign: \(json)") }
        self.state = state
        self.counts = counts
        self.filteredBy = filteredBy
        self.rejectedBy = rejectedBy
        reason = json["reason"] as? String
    }

    /// CONTRACT: always.
    var addsUp: Bool {
        counts["audience"]
            == [
                "pending", "inFlight", "accepted", "retrying", "rejected", "unregistered", "expired", "filtered",
                "cancelled",
            ]
            .reduce(0) { $0 + (counts[$1] ?? 0) }
    }

    var isFinal: Bool { ["completed", "cancelled", "superseded"].contains(state) }

    var description: String { "\(state) (\(reason ?? "")) \(counts) \(filteredBy) \(rejectedBy)" }
}
