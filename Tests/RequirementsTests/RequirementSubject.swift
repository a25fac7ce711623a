// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Requirements
import Testing
import UpgradeRules

/// An app, its store, and a clock that counts events.
struct RequirementSubject {
    static let app = AppKey(app: "com.example.app", platform: .ios)

    var requirements = Requirements()
    var campaigns: [CampaignFacts] = []
    var now = Timestamp(seconds: 1_700_000_000)
    var hasStore = true
    var verdicts: [Version: GateVerdict.State] = [:]
    /// The verdicts on announcing a version, which no hold delays; where there is none, the same as `verdicts`.
    var announcing: [Version: GateVerdict.State] = [:]
    var waves: WavePlan?
    var known = KnownVersions.everything
    var policy = BumpPolicy()
    /// Why the last event was refused; nil: it was taken.
    private(set) var refusal: RequirementRefusal?
    /// The changes by the last event that was taken.
    private(set) var changes: [Change] = []
    private var nextID: Int64 = 1

    var surroundings: RequirementMachine.Surroundings {
        var surroundings = RequirementMachine.Surroundings(
            now: now, gate: hasStore ? "appStore" : nil,
            draft: CampaignDraft(downloadURL: "https://example.com", timeToLive: .seconds(600), waves: waves),
            known: known
        ) { question in
            let own = question.isReminder ? announcing[question.version] : nil
            return hasStore ? GateVerdict(own ?? verdicts[question.version] ?? .closed, "the store says so") : nil
        }
        surroundings.policy = policy
        return surroundings
    }

    /// - Returns: false if it was refused; then nothing has changed.
    @discardableResult
    mutating func take(_ event: RequirementEvent, by: String = "ann", via: String = "cli") -> Bool {
        now = now + .seconds(1)
        var machine = RequirementMachine(requirements, campaigns: campaigns)
        do {
            refusal = nil
            changes = try machine.reduce(event, by: Signature(by: by, via: via, at: now), in: surroundings)
        } catch {
            refusal = error
            return false
        }
        // Gives new rows their ids, as a store does.
        var ids: [Int64: Int64] = [:]
        requirements = machine.requirements
        for index in requirements.rows.indices where requirements.rows[index].id < 0 {
            ids[requirements.rows[index].id] = nextID
            requirements.rows[index].id = nextID
            nextID += 1
        }
        campaigns = machine.campaigns.map { facts in
            guard facts.key.row < 0 else { return facts }
            var new = CampaignFacts(
                key: CampaignKey(row: nextID), requirement: ids[facts.requirement] ?? facts.requirement,
                state: facts.state, createdAt: facts.createdAt, expiresAt: facts.expiresAt,
                timeToLive: facts.timeToLive, downloadURL: facts.downloadURL)
            (new.startedAt, new.timeLeft, new.reason) = (facts.startedAt, facts.timeLeft, facts.reason)
            new.finishedAt = facts.finishedAt
            nextID += 1
            return new
        }
        return true
    }

    mutating func ask(_ version: String, canary: [String]? = nil, from moment: Timestamp? = nil) throws {
        var bump = VersionBump(app: Self.app, required: try Version(version), telephones: canary)
        if let moment { bump.requiredFrom = .set(moment) }
        let isTaken1 = take(.asked(bump))
        #expect(isTaken1)
    }

    /// Adds a row as another program does.
    mutating func askOutside(_ version: String, kind: Requirement.Kind = .required) throws {
        var row = Requirement(
            id: nextID, kind: kind, version: try Version(version), state: .asked, isGated: true,
            changed: Signature(by: "unknown", via: "database", at: now))
        row.reach = Requirement.everybody
        nextID += 1
        requirements.rows.append(row)
    }

    func state(_ version: String) throws -> String {
        let version = try Version(version)
        let row = requirements.live(version) ?? requirements.rows.last { $0.version == version }
        return row.map { "\($0.state.rawValue) \($0.reach)" } ?? "none"
    }

    func campaign(_ version: String) throws -> CampaignFacts? {
        let version = try Version(version)
        return campaigns.last { facts in requirements[facts.requirement]?.version == version }
    }

    /// The version that a user below all of them is forced to have; nil: none.
    func forced(part: Int?, isNamed: Bool) -> Version? {
        requirements.rows.filter { row in
            row.kind == .required && row.state == .inForce
                && (row.reach == Requirement.everybody || isNamed && row.canary != nil
                    || part.map { $0 < row.reach } ?? false)
        }.map(\.version).max()
    }
}
