// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Testing
import UpgradeRules

@testable import RelayAPI

/// One table through `Verdict` and through everything that uses it: the login check, `/v1/enforce`, the launch document, and
/// the filter of batches with its waves.
@Suite struct VerdictTableTests {
    struct Row: Sendable {
        var version: String
        var kind = Requirement.Kind.required
        var state = Requirement.State.inForce
        var reach = Requirement.everybody
        var canary: [String]?
        var minimumOS: String?
        var requiredFrom: Timestamp?
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var rows: [Row]
        var version: String?
        var user: UpgradeRule.User = .nobody
        var endsOlderSystems = false
        var verdict: String

        var testDescription: String {
            "\(rows.map { "\($0.version) \($0.state) \($0.reach)" }), \(version ?? "unknown") of \(user.telephone ?? "nobody") "
                + "on \(user.system?.text ?? "an unknown system")"
        }
    }

    /// One telephone of each half of the first requirement's draw: `theDrawOfTheTable`.
    static let (early, late) = ("13800138003", "13800138000")
    static let floor = Row(version: "2.0")
    static let wave = Row(version: "3.0", reach: 5_000)
    static let canary = Row(version: "3.0", reach: 0, canary: [late])

    static let cases: [Case] = [
        Case(rows: [], version: "1.0", verdict: "none nothing"),
        Case(rows: [], version: nil, verdict: "none nothing"),
        Case(rows: [floor], version: "1.9", verdict: "forced 2.0"),
        Case(rows: [floor], version: "2.0.0", verdict: "none current"),
        Case(rows: [floor], version: "10", verdict: "none current"),
        Case(rows: [floor], version: nil, verdict: "unknown 2.0"),
        Case(rows: [floor], version: "1.9", user: .init(early), verdict: "forced 2.0"),
        // A requirement that waits, is asked for or was withdrawn does not count.
        Case(rows: [floor, Row(version: "3.0", state: .waiting)], version: "2.5", verdict: "none current"),
        Case(rows: [floor, Row(version: "3.0", state: .asked)], version: "1.0", verdict: "forced 2.0"),
        Case(rows: [floor, Row(version: "3.0", state: .withdrawn)], version: "2.5", verdict: "none current"),
        Case(rows: [Row(version: "3.0", state: .waiting)], version: "1.0", verdict: "none nothing"),
        // The highest floor counts, whichever was asked for first.
        Case(rows: [Row(version: "3.0"), floor], version: "1.0", verdict: "forced 3.0"),
        Case(rows: [floor, Row(version: "3.0")], version: "2.5", verdict: "forced 3.0"),
        // Announced: a latest, and a floor whose moment lies ahead.
        Case(
            rows: [floor, Row(version: "2.5", kind: .latest, state: .announced)], version: "2.1",
            verdict: "announced 2.5"),
        Case(
            rows: [floor, Row(version: "2.5", kind: .latest, state: .announced)], version: "1.9", verdict: "forced 2.0"),
        Case(rows: [floor, Row(version: "3.0", state: .announced)], version: "2.5", verdict: "announced 3.0"),
        Case(
            rows: [
                floor, Row(version: "3.0", state: .announced), Row(version: "2.8", kind: .latest, state: .announced),
            ],
            version: "2.5", verdict: "announced 3.0"),
        Case(rows: [Row(version: "3.0", state: .announced)], version: nil, verdict: "none versionUnknown"),
        Case(
            rows: [Row(version: "3.0", state: .announced, reach: 100)], version: "1.0", verdict: "none nothing"),
        // Until its moment a floor is announced to every user, whatever its waves; a canary's to no user.
        Case(
            rows: [Row(version: "3.0", state: .announced, reach: 100, requiredFrom: Bench.now + .seconds(60))],
            version: "1.0", verdict: "announced 3.0"),
        Case(
            rows: [
                Row(version: "3.0", state: .announced, reach: 0, canary: [late], requiredFrom: Bench.now + .seconds(60))
            ], version: "1.0", user: .init(late, isProven: true), verdict: "none nothing"),
        // A wave reaches the users that are drawn into it; a caller without a telephone is reached with the last wave only.
        Case(rows: [wave], version: "1.0", user: .init(early), verdict: "forced 3.0"),
        Case(rows: [wave], version: "1.0", user: .init(late), verdict: "none notReached"),
        Case(rows: [wave], version: "1.0", verdict: "none notReached"),
        Case(rows: [wave], version: nil, user: .init(early), verdict: "unknown 3.0"),
        Case(rows: [wave], version: nil, user: .init(late), verdict: "none notReached"),
        Case(rows: [wave], version: "3.0", user: .init(late), verdict: "none current"),
        Case(rows: [wave, floor], version: "1.0", user: .init(late), verdict: "forced 2.0"),
        Case(rows: [wave, floor], version: "1.0", user: .init(early), verdict: "forced 3.0"),
        Case(rows: [wave, floor], version: "2.5", user: .init(late), verdict: "none notReached"),
        // A canary: only a proven telephone is compared with the list.
        Case(rows: [canary], version: "1.0", user: .init(late, isProven: true), verdict: "forced 3.0"),
        Case(rows: [canary], version: "1.0", user: .init(late), verdict: "none notReached"),
        Case(rows: [canary], version: "1.0", user: .init(early, isProven: true), verdict: "none notReached"),
        // A user of the canary stays forced in the waves that follow.
        Case(
            rows: [Row(version: "3.0", reach: 5_000, canary: [late])], version: "1.0",
            user: .init(late, isProven: true), verdict: "forced 3.0"),
        // A newer canary replaces an older wave.
        Case(
            rows: [wave, Row(version: "4.0", reach: 0, canary: [late])], version: "1.0", user: .init(early),
            verdict: "none notReached"),
        // A phone whose system is too old for a version cannot obey: that version does not count for it, lower ones still do.
        Case(rows: [modern], version: "1.0", user: old, verdict: "none osTooOld"),
        Case(rows: [modern], version: "1.0", user: new, verdict: "forced 3.0"),
        Case(rows: [modern], version: "1.0", verdict: "forced 3.0"),
        Case(rows: [modern], version: "3.0", user: old, verdict: "none current"),
        Case(rows: [modern, floor], version: "1.0", user: old, verdict: "forced 2.0"),
        Case(rows: [modern, floor], version: "1.0", user: new, verdict: "forced 3.0"),
        Case(rows: [modern, floor], version: "2.5", user: old, verdict: "none osTooOld"),
        Case(rows: [modern, floor], version: nil, user: old, verdict: "unknown 2.0"),
        Case(rows: [modern], version: nil, user: old, verdict: "none osTooOld"),
        Case(
            rows: [floor, Row(version: "3.0", kind: .latest, state: .announced, minimumOS: "15")], version: "2.5",
            user: old,
            verdict: "none osTooOld"),
        Case(
            rows: [Row(version: "2.5", kind: .latest, state: .announced), modern], version: "2.0", user: old,
            verdict: "announced 2.5"),
        Case(
            rows: [Row(version: "3.0", reach: 5_000, minimumOS: "15"), floor], version: "1.0",
            user: .init(early, system: fourteen), verdict: "forced 2.0"),
        Case(rows: [modern], version: "2.5", user: old, endsOlderSystems: true, verdict: "ended 3.0"),
        Case(rows: [modern], version: "2.5", user: new, endsOlderSystems: true, verdict: "forced 3.0"),
        Case(rows: [modern, floor], version: "1.0", user: old, endsOlderSystems: true, verdict: "forced 2.0"),
        Case(rows: [modern, floor], version: "2.5", user: old, endsOlderSystems: true, verdict: "ended 3.0"),
        Case(rows: [modern], version: nil, user: old, endsOlderSystems: true, verdict: "none osTooOld"),
        // One bad build: exactly that one must be left, and an unknown version is not taken for it.
        Case(rows: [bad], version: "2.1.5", user: .init(late), verdict: "blocked 2.1.5"),
        Case(rows: [bad], version: "2.1.5.0", user: .init(late), verdict: "blocked 2.1.5"),
        Case(rows: [bad], version: "2.1.4", user: .init(late), verdict: "none current"),
        Case(rows: [bad], version: "2.1.6", user: .init(late), verdict: "none current"),
        Case(rows: [bad], version: "1.0", verdict: "none current"),
        Case(rows: [bad], version: nil, user: .init(late), verdict: "none versionUnknown"),
        Case(rows: [Row(version: "2.1.5", kind: .blocked, state: .waiting)], version: "2.1.5", verdict: "none nothing"),
        Case(rows: [bad, floor], version: "2.1.5", user: .init(late), verdict: "blocked 2.1.5"),
        Case(rows: [bad, floor], version: "2.5", user: .init(late), verdict: "none current"),
        Case(rows: [bad, floor], version: "1.0", user: .init(late), verdict: "forced 2.0"),
        Case(rows: [bad, floor], version: nil, user: .init(late), verdict: "unknown 2.0"),
        Case(rows: [bad, Row(version: "3.0")], version: "2.1.5", verdict: "forced 3.0"),
        Case(rows: [bad, Row(version: "2.1.5")], version: "2.1.5", verdict: "blocked 2.1.5"),
        Case(rows: [bad, Row(version: "2.1.5")], version: "2.1.4", verdict: "forced 2.1.5"),
        Case(rows: [bad, wave], version: "2.1.5", user: .init(early), verdict: "forced 3.0"),
        Case(rows: [bad, wave], version: "2.1.5", user: .init(late), verdict: "blocked 2.1.5"),
        // Users are notified of the version above it, and never of itself.
        Case(
            rows: [bad, Row(version: "2.2", kind: .latest, state: .announced)], version: "2.1.5",
            verdict: "blocked 2.1.5"),
        Case(
            rows: [bad, Row(version: "2.2", kind: .latest, state: .announced)], version: "2.1.4",
            verdict: "announced 2.2"),
        Case(
            rows: [bad, Row(version: "2.1.5", kind: .latest, state: .announced)], version: "2.1.4",
            verdict: "none current"),
        // The version above it does not run on this phone.
        Case(rows: [badOfOld, floor], version: "2.1.5", user: old, verdict: "none osTooOld"),
        Case(rows: [badOfOld, floor], version: "2.1.5", user: new, verdict: "blocked 2.1.5"),
        Case(rows: [badOfOld], version: "2.1.5", user: old, endsOlderSystems: true, verdict: "ended 2.1.5"),
        Case(rows: [badOfOld], version: "2.1.4", user: old, endsOlderSystems: true, verdict: "none current"),
    ]

    static let bad = Row(version: "2.1.5", kind: .blocked)
    static let badOfOld = Row(version: "2.1.5", kind: .blocked, minimumOS: "15.0")

    private static let (fourteen, fifteen) = (try? Version("14.8.1"), try? Version("15"))
    static let modern = Row(version: "3.0", minimumOS: "15.0")
    private static let (old, new) = (UpgradeRule.User(nil, system: fourteen), UpgradeRule.User(nil, system: fifteen))

    private static func requirements(_ rows: [Row]) throws -> Requirements {
        Requirements(
            try rows.enumerated().map { index, row in
                var requirement = Requirement(
                    id: Int64(index + 1), kind: row.kind, version: try Version(row.version), state: row.state,
                    reach: row.reach, isGated: false, changed: .relay(at: Bench.now))
                requirement.canary = row.canary
                requirement.requiredFrom = row.requiredFrom
                requirement.minimumOS = try row.minimumOS.map { try Version($0) }
                return requirement
            })
    }

    private static func name(_ verdict: Verdict) -> String {
        switch verdict {
        case .unknown(let rule): "unknown \(rule.version)"
        case .forced(let rule): "\(rule.isBlock ? "blocked" : "forced") \(rule.version)"
        case .ended(let rule): "ended \(rule.version)"
        case .announced(let rule): "announced \(rule.version)"
        case .none(let reason): "none \(reason.rawValue)"
        }
    }

    @Test func theDrawOfTheTable() {
        let draw = UserDraw(requirement: 1)
        #expect(draw.part(of: Self.early.utf8) < 5_000 && draw.part(of: Self.late.utf8) >= 5_000)
    }

    @Test(arguments: cases)
    func verdict(_ example: Case) throws {
        let version = try example.version.map { try Version($0) }
        let rules = try Self.requirements(example.rows).rules
        let verdict = Verdict(
            rules, version: version, user: example.user, endsOlderSystems: example.endsOlderSystems)
        #expect(Self.name(verdict) == example.verdict)
    }

    @Test(arguments: cases)
    func channels(_ example: Case) throws {
        let version = try example.version.map { try Version($0) }
        let requirements = try Self.requirements(example.rows)
        var profile = AppProfile(downloadURL: "https://example.com", alert: "")
        profile.belowMinimumOS = example.endsOlderSystems ? .deny : .allow
        let answers = CheckAnswers(requirements, profile)
        let verdict = Verdict(
            requirements.rules, version: version, user: example.user, endsOlderSystems: example.endsOlderSystems)
        let answer = answers.answer(to: version, user: example.user)
        #expect(answer.verdict == verdict)
        if case .forced(let rule) = verdict {
            #expect(answer.toldAtLogin == rule)
        } else {
            #expect(answer.toldAtLogin == nil)
        }
        #expect(answer.prompt == verdict.prompt)
        let ofNobody = Verdict(
            requirements.rules, version: version, user: .init(nil, system: example.user.system),
            endsOlderSystems: example.endsOlderSystems)
        var isEnded = false
        if case .ended = ofNobody { isEnded = true }
        switch answers.enforce(version, system: example.user.system) {
        case .denied: #expect(ofNobody.prompt == .force || isEnded)
        case .passes: #expect(ofNobody.prompt != .force && !isEnded && version != nil)
        case .unknown: #expect(version == nil)
        }
        let leadsNowhere = CheckAnswers(requirements, AppProfile(downloadURL: nil, alert: ""))
        #expect(leadsNowhere.answer(to: version, user: example.user).prompt == .none)
    }

    /// The launch document has no user: it must show the verdict for a user without a telephone.
    @Test(arguments: cases)
    func launchDocument(_ example: Case) throws {
        // The client compares texts, and takes 10 for older than 2.0: the advice handles that, not the verdict.
        guard let version = example.version, version != "10", !example.endsOlderSystems else { return }
        let requirements = try Self.requirements(example.rows)
        let systems = [example.user.system].compactMap(\.self)
        let inForce = InForce(requirements, systems: systems)
        let facts = VersionCache.facts(inForce.floor, inForce.newest, (nil, nil), nil, SeenVersions())
        let section = LaunchGateAdvice(.ios, facts).section
        let shown = LaunchGateClient.launchGate.prompt(section, installed: version)
        let nobody = UpgradeRule.User(nil, system: example.user.system)
        // The document cannot express that a single version is blocked.
        let said = requirements.rules.filter { !$0.isBlock }
        switch (Verdict(said, version: try Version(version), user: nobody).prompt, shown) {
        case (.force, .required), (.none, .none), (.remind, .optional): break
        // The client looks at the first object alone.
        case (.remind, .none): #expect(section.required != nil)
        default: Issue.record("the document says \(shown)")
        }
    }

    /// Batches are filtered by bytes, and their waves are drawn where they are read.
    @Test(arguments: cases)
    func batches(_ example: Case) throws {
        guard let telephone = example.user.telephone else { return }
        let plan = try #require(WavePlan(ends: [5_000, 10_000]))
        for row in try Self.requirements(example.rows).rows where row.rule.forces {
            // The registry's telephone is a proven one.
            let user = UpgradeRule.User(telephone, isProven: true, system: example.user.system)
            let verdict = Verdict([row.rule], version: try example.version.map { try Version($0) }, user: user)
            var devices = DeviceRows()
            func slice(_ text: String) -> ByteSlice {
                var text = text
                return text.withUTF8 { devices.store(UnsafeRawBufferPointer($0)) }
            }
            let device = DeviceRow(
                id: 1, token: slice("00ff"), telephone: slice(telephone),
                version: example.version.map(slice) ?? .absent,
                system: example.user.system.map { slice($0.text) } ?? .absent,
                channel: .production, isDead: false, registeredAt: 0)
            let filter = AudienceFilter(row, telephones: row.reach == 0 ? row.canary : nil)
            let wave = WaveDraw(plan, requirement: row.id).wave(of: telephone.utf8)
            // The canary's users had their turn before, by a list of their own.
            let isInTurn =
                row.reach == 0 || wave == 0 || row.rule.isForEverybody || row.canary?.contains(telephone) ?? false
            #expect((isInTurn && filter.reason(against: device, in: devices) == nil) == verdict.isPushed)
        }
    }
}
