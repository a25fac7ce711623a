// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// Checks pushes against the phones that they were for: each must be accepted by its own user's phone and dropped by any other.
package struct PushJury {
    /// By device token; a device whose user changed has had several. A push to a token that is not here is a fault.
    package var telephones: [String: Set<String>] = [:]
    /// The value that a push must have as `page.required`; nil: not checked.
    package var required: String?
    private let pushType: String

    /// - Parameter pushType: the value that `page.type` must have in this app.
    package init(pushType: String) {
        self.pushType = pushType
    }

    /// Checks a simulator's record (`simulate-apns --record`).
    ///
    /// - Returns: how many pushes were judged, and a line for each that went wrong.
    package func verdict(onRecord record: Data) throws -> (judged: Int, faults: [String]) {
        var judged = 0
        var faults: [String] = []
        for line in record.split(separator: UInt8(ascii: "\n")) {
            judged += 1
            guard let push = try JSONSerialization.jsonObject(with: line) as? [String: Any],
                let token = push["token"] as? String, let payload = Self.payload(of: line)
            else {
                faults.append("not a push: \(String(decoding: line, as: UTF8.self))")
                continue
            }
            guard let users = telephones[token] else {
                faults.append("\(token) was pushed to and has no user")
                continue
            }
            if let fault = fault(of: payload, users: users) { faults.append("\(token): \(fault)") }
        }
        return (judged, faults)
    }

    /// Why a payload is wrong for one of these users; nil when it is right.
    package func fault(of payload: [UInt8], users: Set<String>) -> String? {
        var client = SeedClient(userTelephone: nil, pushType: pushType)
        let takers = users.filter { user in
            client.userTelephone = user
            return client.receive(payload).isAccepted
        }
        let text = String(decoding: payload, as: UTF8.self)
        if let required, !text.contains(#","required":"\#(required)""#) { return "\(required) is not in \(text)" }
        guard takers.count == 1, let taker = takers.first else { return "\(takers.count) of its users take \(text)" }
        // No user logged in, nearly the same number, a shorter one.
        for other in [nil, taker + " ", String(taker.dropLast())] {
            client.userTelephone = other
            if client.receive(payload).isAccepted { return "the phone of \(other ?? "nobody") takes \(text)" }
        }
        return nil
    }

    /// The payload as it was sent, byte by byte: it is the record's last member.
    private static func payload(of line: Data) -> [UInt8]? {
        guard let name = line.range(of: Data(#","payload":"#.utf8)), line.last == UInt8(ascii: "}") else { return nil }
        return Array(line[name.upperBound..<line.endIndex - 1])
    }
}

extension SeedClient.Reaction {
    package var isAccepted: Bool {
        if case .accepted = self { true } else { false }
    }
}
