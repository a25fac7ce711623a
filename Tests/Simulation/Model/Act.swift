// SPDX-License-Identifier: Apache-2.0

/// What one person, or one webhook, did to the relay. Each has a name of its own, so that nobody's row is another's.
struct Act: Hashable {
    let actor: String
    /// What the audit trail may call it; the first is what was asked for.
    let actions: [String]
    /// Whether the relay has said that it is done, and that something is another by it.
    var isDone = false
    /// The campaign that it was about, as the relay has said; nil: none, or not known.
    var campaign: String?
    /// The version that it was about; nil: of a campaign that says it.
    var object: String?
    /// What the row must say that is since then, where it says anything of it.
    var values: [String: String] = [:]

    /// - Parameter rows: by action, how many rows of the trail are this actor's.
    /// - Returns: what is wrong with them; nil: nothing.
    func fault(in rows: [String: Int]) -> String? {
        if let other = rows.keys.sorted().first(where: { !actions.contains($0) }) {
            return "\(actor) did \(actions[0]), and the audit trail has \(other)"
        }
        if let (action, count) = rows.sorted(by: { $0.key < $1.key }).first(where: { $1 > 1 }) {
            return "\(actor) did \(action) once, and the audit trail has it \(count) times"
        }
        return isDone && rows[actions[0]] == nil
            ? "\(actor) did \(actions[0]), and the audit trail has no row of it" : nil
    }
}
