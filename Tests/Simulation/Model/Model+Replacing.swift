// SPDX-License-Identifier: Apache-2.0

/// Phones that get another token.
extension Model {
    /// The device of a token has another one: it is the same device, in every campaign.
    mutating func moved(_ app: Int, from old: String, to new: String, _ change: (inout DeviceState) -> Void) {
        let (before, after) = ("\(app)/\(old)", "\(app)/\(new)")
        guard let states = devices[before], let last = states.last else { return device(app, new, change) }
        var state = last
        change(&state)
        devices[after] = states
        if state != last { device(app, new, change) }
        device(app, old) { ($0.isRegistered, $0.user) = (false, nil) }
        successors[before] = new
        if disputed.contains(before) { disputed.insert(after) }
        if everDead.contains(before) { everDead.insert(after) }
        for id in campaigns.keys {
            if let count = campaigns[id]?.settled[old] { campaigns[id]?.settled[new] = count }
        }
    }

    /// The token that a device has by now whose token this was; nil: it has this one.
    func successor(_ app: Int, _ token: String) -> String? {
        var last: String?
        while let next = successors["\(app)/\(last ?? token)"] { last = next }
        return last
    }

    /// Something of a device is as new as now: who changed since something was asked for may have been notified at login.
    mutating func changed(_ app: Int, _ token: String) { device(app, token) { _ in } }
}
