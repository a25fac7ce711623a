// SPDX-License-Identifier: Apache-2.0

/// One act of a person or a webhook on the relay. Each act has its own actor name, so that audit rows cannot be mixed up.
struct Act: Hashable {
    let actor: String
    /// The audit actions that it may cause; the first is the requested one.
    let actions: [String]
    /// Whether the relay has confirmed the act, and it changed something.
    var isDone = false
    /// Whether one person does it alone, in an emergency, where the app wants two for it.
    var isAlone = false
    /// The campaign of the act, as the relay reported it; nil: none, or unknown.
    var campaign: String?
    /// The version of the act; nil: the campaign implies it.
    var object: String?
    /// The values after the act, by name, that the row must have where it names them.
    var values: [String: String] = [:]

    /// - Parameter rows: the number of this actor's audit rows, by action.
    /// - Returns: the fault in the rows; nil: none.
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
