// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import UpgradeRules

/// Gates: the stores let a version through, or take it back.
extension RequirementMachine {
    /// Moves rows as their gates let them through or take them back, the highest first, until nothing changes: a halted
    /// row lets the one below it be asked.
    mutating func settle(_ surroundings: Surroundings) {
        var hasChanged = true
        while hasChanged {
            hasChanged = false
            for row in requirements.rows.sorted(by: { $0.version > $1.version })
            where row.isAccepted && !requirements.isSuperseded(row) {
                if settle(row, surroundings) { hasChanged = true }
            }
        }
    }

    private mutating func settle(_ row: Requirement, _ surroundings: Surroundings) -> Bool {
        let waits = row.waitsForStore
        let verdict = waits ? surroundings.verdict(requirements.question(row)) : nil
        let relay = Signature(
            by: waits ? surroundings.gate ?? InForce.ungated : InForce.ungated, via: "gate", at: surroundings.now)
        if verdict?.state == .halted {
            guard row.isAnnounced, row.kind != .latest || row.state == .announced else { return false }
            change(row.id, by: relay) { ($0.state, $0.reason) = (.waiting, verdict?.reason) }
            return row.kind != .latest
        }
        guard row.state == .waiting || row.state == .announced && row.kind == .required else { return false }
        if row.wait(for: verdict, in: surroundings) == nil {
            let next: Requirement.State = row.kind == .latest ? .announced : .inForce
            // A row that nothing held back moves by its own author's act.
            let isNews = row.id < 0 && !waits || row.changed.at == surroundings.now && row.isReleased
            change(row.id, by: isNews ? row.changed : relay) {
                ($0.state, $0.reason) = (next, verdict?.reason ?? (row.isReleased ? row.reason : nil))
                if next == .inForce {
                    $0.inForceAt = surroundings.now
                    $0.inForceBy = row.isReleased ? row.changed.by : relay.by
                }
            }
            return true
        }
        if row.state == .waiting, row.kind == .required,
            !waits || verdict?.isOpen ?? false
                || surroundings.verdict(requirements.question(row, isReminder: true))?.isOpen ?? false
        {
            // A row that nothing held back moves by its own author's act.
            change(row.id, by: row.id < 0 && !waits ? row.changed : relay) {
                ($0.state, $0.reason) = (.announced, verdict?.reason)
            }
            return true
        }
        if row.state == .waiting, row.id < 0 {
            change(row.id, by: row.changed) { $0.reason = verdict?.reason }
        }
        return false
    }
}

extension Requirement {
    /// Takes up another program's row.
    mutating func accept(_ surroundings: RequirementMachine.Surroundings) {
        (state, isGated, reason) = (.waiting, surroundings.gate != nil, nil)
        downloadURL = downloadURL.map(DownloadURL.sent)
        guard kind == .required else { return }
        stages = surroundings.draft?.waves
        if canary == nil { reach = firstReach }
    }
}
