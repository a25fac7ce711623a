// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Testing
import UpgradeRules

/// The line, the audit row and the events of each change: a table of all cases, without a store.
@Suite("Changes and their views") struct ChangeTests {
    private static let now = Timestamp(seconds: 1_700_000_000)
    private static let app = AppKey(app: "com.example.app", platform: .ios)
    private static let ann = Signature(by: Principal("ann", .token, via: "api", from: "192.0.2.7"), at: now)
    private static let relay = Signature(by: .relay, at: now)
    private static let program = Signature(by: .database("crm"), at: now)

    /// A change with all that is said of it.
    struct Row: Sendable, CustomTestStringConvertible {
        let change: Change
        /// nil: the log has no line.
        let line: String?
        /// nil: the audit trail has no row.
        let entry: String?
        /// An event in brackets comes with its campaign's state.
        let notices: String

        var testDescription: String { "\(Name(change.kind)): \(notices)" }

        init(
            _ kind: Change.Kind, by signature: Signature = ann, line: String? = nil, entry: String? = nil,
            notices: String = ""
        ) {
            change = Change(kind, by: signature, requirement: 1)
            (self.line, self.entry, self.notices) = (line, entry, notices)
        }
    }

    // MARK: The table

    private static let versions: [Row] = [
        Row(step(.raised, "2.0", .waiting), line: "notice: raised 2.0 from 1.0 to 2.0, waiting for everybody"),
        Row(
            step(.raised, "2.0", .inForce), line: "notice: raised 2.0 from 1.0 to 2.0, in_force for everybody",
            notices: "requirement.inForce"),
        Row(
            step(.raised, "2.0", .waiting, kind: .latest),
            line: "notice: raised 2.0 from 1.0 to 2.0, waiting for everybody, latest"),
        Row(
            step(.raised, "2.0", .inForce, kind: .blocked), line: "notice: raised 2.0, in_force for everybody",
            notices: "requirement.inForce"),
        Row(
            step(.takenUp, "2.0", .waiting), by: program,
            line: "notice: takenUp 2.0 from 1.0 to 2.0, waiting for everybody",
            entry: #"version.bump of 2.0 by database crm: nil to {"required":"2.0"}"#),
        Row(
            step(.takenUp, "2.0", .inForce), by: program,
            line: "notice: takenUp 2.0 from 1.0 to 2.0, in_force for everybody",
            entry: #"version.bump of 2.0 by database crm: nil to {"required":"2.0"}"#, notices: "requirement.inForce"),
        Row(
            step(.takenUp, "2.0", .announced, kind: .latest), by: program,
            line: "notice: takenUp 2.0 from 1.0 to 2.0, announced for everybody, latest",
            entry: #"version.bump of 2.0 by database crm: nil to {"latest":"2.0"}"#),
        // The release has its own row.
        Row(
            step(.takenUp, "2.0", .inForce) { $0.isReleased = true },
            line: "notice: takenUp 2.0 from 1.0 to 2.0, in_force for everybody", notices: "requirement.inForce"),
        Row(
            step(.announced, "2.0", .announced),
            line: "notice: announced 2.0 from 1.0 to 2.0, announced for everybody"),
        Row(
            step(.inForce, "2.0", .inForce), line: "notice: inForce 2.0 from 1.0 to 2.0, in_force for everybody",
            notices: "requirement.inForce"),
        Row(
            step(.inForce, "2.0", .inForce) { ($0.reach, $0.canary) = (0, ["13800138000"]) },
            line: "notice: inForce 2.0 from 1.0 to 2.0, in_force for 1 phone number"),
        Row(
            step(.outOfForce, "2.0", .waiting) { $0.reason = "halted" },
            line: "error: outOfForce 2.0 from 1.0 to 2.0, waiting for everybody, halted"),
        Row(
            step(.widened, "2.0", .inForce) { $0.reach = 1250 },
            line: "notice: widened 2.0 from 1.0 to 2.0, in_force for 12.5 percent"),
        Row(
            step(.widened, "2.0", .inForce), line: "notice: widened 2.0 from 1.0 to 2.0, in_force for everybody",
            notices: "requirement.inForce"),
        Row(step(.reworded, "2.0", .inForce), line: "notice: reworded 2.0 from 1.0 to 2.0, in_force for everybody"),
        Row(
            step(.withdrawn, "2.0", .withdrawn), line: "notice: withdrawn 2.0 from 1.0 to 2.0, withdrawn for everybody",
            notices: "requirement.withdrawn"),
    ]

    private static let acts: [Row] = [
        Row(
            .bumped(bump(), requirements),
            entry:
                #"version.bump of 2.0 by token ann: {"required":null,"latest":null} to {"required":"2.0","latest":"2.0"}"#
        ),
        Row(
            .bumped(bump(isUrgent: true), Change.Move(from: requirements.to, to: requirements.to)),
            entry: #"version.bump of 2.0 by token ann: {} to {"now":true}"#),
        Row(
            .blocked(row("1.5", .waiting, kind: .blocked) { $0.message = LocalizedText("Leave it.") }, before: nil),
            entry: #"version.block of 1.5 by token ann: nil to {"message":"Leave it."}"#),
        Row(
            .blocked(
                row("1.5", .waiting, kind: .blocked) { $0.message = LocalizedText("Leave it.") },
                before: row("1.5", .waiting, kind: .blocked)),
            entry: #"version.block of 1.5 by token ann: {"message":null} to {"message":"Leave it."}"#),
        Row(
            .released(version("2.0"), isNamed: false, standing(.waiting, .inForce)),
            entry: #"version.release of 2.0 by token ann: {"state":"waiting"} to {"state":"in_force"}"#),
        Row(
            .released(version("2.0"), isNamed: true, standing(.waiting, .inForce)),
            entry: #"campaign.release of 2.0 by token ann: {"state":"waiting"} to {"state":"in_force"}"#),
        Row(
            .takenBack(version("2.0"), reason: "it crashes", Change.Move(from: requirements.to, to: requirements.from)),
            entry:
                #"version.withdraw of 2.0 by token ann: {"required":"2.0","latest":"2.0"} to {"required":null,"latest":null,"reason":"it crashes"}"#
        ),
        Row(
            .unblocked(version("1.5"), reason: nil, standing(.inForce, .withdrawn)),
            entry: #"version.unblock of 1.5 by token ann: {"state":"in_force"} to {"state":"withdrawn"}"#),
    ]

    private static let campaigns: [Row] = [
        Row(
            .created(facts(.waiting), isInForce: false), by: relay,
            entry: #"campaign.create by relay relay: nil to {"state":"waiting"}"#,
            notices: "campaign.waiting"),
        Row(
            .created(facts(.running), isInForce: true), by: relay,
            entry: #"campaign.create by relay relay: nil to {"state":"running"}"#,
            notices: "campaign.running requirement.inForce"),
        Row(
            .created(facts(.superseded, "3.0 came"), isInForce: false), by: relay,
            entry: #"campaign.create by relay relay: nil to {"state":"superseded","reason":"3.0 came"}"#,
            notices: "campaign.waiting campaign.superseded"),
        Row(
            .paused(move(.running, .paused)),
            entry: #"campaign.pause by token ann: {"state":"running"} to {"state":"paused"}"#,
            notices: "campaign.paused"),
        Row(
            .resumed(move(.suspended, .running)),
            entry: #"campaign.resume by token ann: {"state":"suspended"} to {"state":"running"}"#,
            notices: "campaign.running"),
        Row(
            .cancelled(move(.running, .cancelled)),
            entry: #"campaign.cancel by token ann: {"state":"running"} to {"state":"cancelled"}"#,
            notices: "campaign.cancelled"),
        Row(
            .hurried(move(.running, .running, isUrgent: true), isByBump: false),
            entry: #"campaign.hurry by token ann: {"now":null} to {"now":true}"#),
        // The bump's row has it.
        Row(.hurried(move(.running, .running, isUrgent: true), isByBump: true)),
        Row(.waveReleased(2), entry: #"campaign.release by token ann: nil to {"wave":2}"#),
        Row(
            .reopened(
                RoundDraft(.retry([.rejected]), timeToLive: .seconds(60)), Change.Move(from: .completed, to: .running)),
            entry:
                #"campaign.retry by token ann: {"state":"completed"} to {"state":"running","states":["rejected"]}"#,
            notices: "campaign.running"),
        Row(
            .reopened(
                RoundDraft(.reminder(dueAt: now), timeToLive: .seconds(60)), Change.Move(from: .running, to: .running)),
            entry: #"campaign.remind by token ann: {} to {"dueAt":"2023-11-14T22:13:20.000Z"}"#),
        Row(
            .stageBegan(Change.Move(from: 100, to: 1250)), by: relay,
            entry: #"campaign.wave by relay relay: {"percent":1} to {"percent":12.5}"#),
        Row(.waveDone, by: relay, notices: "campaign.waveDone"),
        Row(.canaryDone, by: relay, notices: "campaign.canaryDone"),
        Row(.waitsLong, by: relay, notices: "campaign.waitsLong"),
        Row(
            .approval(request(.open)), line: "notice: an act waits for a second person: require 2.0, 4 of 10",
            entry: #"approval.ask of 2.0 by token ann: nil to {"id":3,"act":"raise","askedBy":"ann","devices":4,"#
                + #""of":10,"until":"2023-11-14T23:13:20.000Z"}"#),
        Row(
            .approval(request(.refused, "not now")), by: relay,
            line: "notice: a second person refused an act: require 2.0, 4 of 10, not now",
            entry: #"approval.refuse of 2.0 by relay relay: nil to {"id":3,"act":"raise","askedBy":"ann","devices":4,"#
                + #""of":10,"reason":"not now"}"#),
        Row(
            .approval(request(.alone, "data is lost")),
            line: "error: one person acted alone, without a second one: require 2.0, 4 of 10, data is lost",
            entry: #"approval.alone of 2.0 by token ann: nil to {"id":3,"act":"raise","askedBy":"ann","devices":4,"#
                + #""of":10,"reason":"data is lost"}"#),
        Row(.approval(request(.superseded))),
    ]

    private static func request(_ state: Approval.State, _ reason: String? = nil) -> Approval {
        var approval = Approval(
            id: 3, app, Approval.Wish(.raise, version("2.0")), ApprovalReach(devices: 4, of: 10), shown: Shown(),
            by: Principal("ann", .token, via: "api"), at: now, until: now + .seconds(3600))
        (approval.state, approval.reason) = (state, reason)
        return approval
    }

    /// Each state that a campaign comes into by no order of its own.
    private static let states = CampaignState.allCases.map { state -> Row in
        let action =
            switch state {
            case .waiting: "wait"
            case .running: "begin"
            case .paused: "pause"
            case .suspended: "suspend"
            case .completed: "complete"
            case .cancelled: "cancel"
            case .superseded: "supersede"
            }
        let old: CampaignState = state == .running ? .waiting : .running
        return Row(
            .moved(move(old, state)), by: relay,
            entry: #"campaign.\#(action) by relay relay: {"state":"\#(old)"} to {"state":"\#(state)"}"#,
            notices: "campaign.\(state)")
    }

    // MARK: Tests

    @Test("A change has its line, its row and its events", arguments: versions + acts + campaigns + states)
    func views(_ row: Row) {
        #expect(Self.text(row.change.line(of: Self.app)) == row.line)
        #expect(row.change.entry(of: Self.app).map(Self.text) == row.entry)
        #expect(row.change.notices.map(\.rawValue).joined(separator: " ") == row.notices)
    }

    @Test("The table has each case")
    func everyCase() {
        let all = Self.versions + Self.acts + Self.campaigns + Self.states
        #expect(Set(all.map { Name($0.change.kind) }) == Set(Name.allCases))
    }

    @Test("A line has its fields in order, with the campaign and what the version waits for")
    func fields() throws {
        var change = Change(
            Self.step(.announced, "2.0", .announced) {
                ($0.minimumOS, $0.requiredFrom, $0.reason) = (Self.version("15"), Self.now, "not yet")
            }, by: Self.ann, requirement: 1)
        #expect(
            change.line(of: Self.app)?.fields.map { "\($0.name)=\($0.value)" } == [
                "app=com.example.app", "platform=ios", "change=announced", "version=2.0", "from=1.0", "to=2.0",
                "state=announced", "reach=everybody", "by=ann", "via=api", "minimumOs=15",
                "requiredFrom=2023-11-14T22:13:20.000Z", "reason=not yet",
            ])
        change.kind = Self.step(.raised, "2.0", .waiting, kind: .blocked)
        #expect(
            change.line(of: Self.app)?.fields.map(\.name) == [
                "app", "platform", "change", "kind", "version", "state", "reach", "by", "via",
            ])
    }

    @Test("Receivers hear of the states first, and of a force last and once, in the order of the requirements")
    func noted() {
        func change(_ kind: Change.Kind, _ requirement: Int64?) -> Change {
            Change(kind, by: Self.ann, requirement: requirement)
        }
        let noted = Change.noted([
            change(Self.step(.widened, "1.0", .inForce), 7), change(Self.step(.inForce, "2.0", .inForce), 4),
            change(Self.step(.withdrawn, "3.0", .withdrawn), 9), change(.waitsLong, nil),
            change(.created(Self.facts(.running), isInForce: true), 4),
            change(.moved(Self.move(.running, .cancelled)), 9),
        ])
        #expect(
            noted.map { "\($0.type) \($0.requirement)" } == [
                "running 4", "cancelled 9", "withdrawn 9", "inForce 4", "inForce 7",
            ])
    }

    @Test("Each state of a campaign is an event of its own, and no other event is", arguments: EventType.allCases)
    func stateOfEvent(_ type: EventType) {
        #expect(type.state == CampaignState(rawValue: type.name))
    }
}

// MARK: Examples

extension ChangeTests {
    /// The cases of a change, each by its name. Without a default: a new case is named here, and then the table must have it.
    fileprivate enum Name: String, CaseIterable {
        case raised, takenUp, announced, inForce, outOfForce, widened, reworded, withdrawn
        case bumped, blocked, released, takenBack, unblocked
        case created, moved, paused, resumed, cancelled, hurried, waveReleased, reopened
        case stageBegan, waveDone, canaryDone, waitsLong, approval

        init(_ kind: Change.Kind) {
            self =
                switch kind {
                case .version(let step, _, _):
                    switch step {
                    case .raised: .raised
                    case .takenUp: .takenUp
                    case .announced: .announced
                    case .inForce: .inForce
                    case .outOfForce: .outOfForce
                    case .widened: .widened
                    case .reworded: .reworded
                    case .withdrawn: .withdrawn
                    }
                case .bumped: .bumped
                case .blocked: .blocked
                case .released: .released
                case .takenBack: .takenBack
                case .unblocked: .unblocked
                case .created: .created
                case .moved: .moved
                case .paused: .paused
                case .resumed: .resumed
                case .cancelled: .cancelled
                case .hurried: .hurried
                case .waveReleased: .waveReleased
                case .reopened: .reopened
                case .stageBegan: .stageBegan
                case .waveDone: .waveDone
                case .canaryDone: .canaryDone
                case .waitsLong: .waitsLong
                case .approval: .approval
                }
        }
    }

    private static func text(_ line: Change.Line?) -> String? {
        guard let line else { return nil }
        let fields = Dictionary(uniqueKeysWithValues: line.fields.map { ($0.name, $0.value) })
        func field(_ name: String) -> String { fields[name] ?? "nothing" }
        let move = fields["kind"] == nil ? " from \(field("from")) to \(field("to"))" : ""
        let rest = fields["reason"].map { ", \($0)" } ?? ""
        let message = "\(line.message)"
        if fields["request"] != nil {
            return "\(line.isGrave ? "error" : "notice"): \(message): \(field("act")), \(field("devices"))\(rest)"
        }
        let isLatest = message == "the latest version changed"
        #expect(isLatest || message == "what is required changed")
        return "\(line.isGrave ? "error" : "notice"): \(field("change")) \(field("version"))\(move), "
            + "\(field("state")) for \(field("reach"))\(rest)\(isLatest ? ", latest" : "")"
    }

    private static func text(_ entry: AuditEntry) -> String {
        let object = entry.object.map { " of \($0)" } ?? ""
        return "\(entry.action)\(object) by \(entry.actor.kind) \(entry.actor.name): "
            + "\(entry.before ?? "nil") to \(entry.after ?? "nil")"
    }

    private static func version(_ text: String) -> Version { (try? Version(text)) ?? .zero }

    private static func row(
        _ version: String, _ state: Requirement.State, kind: Requirement.Kind = .required,
        _ change: (inout Requirement) -> Void = { _ in }
    ) -> Requirement {
        var row = Requirement(
            id: 1, kind: kind, version: Self.version(version), state: state, isGated: false, changed: ann.plain)
        change(&row)
        return row
    }

    private static func step(
        _ step: Change.VersionStep, _ version: String, _ state: Requirement.State,
        kind: Requirement.Kind = .required, _ change: (inout Requirement) -> Void = { _ in }
    ) -> Change.Kind {
        .version(
            step, row(version, state, kind: kind, change),
            Change.Move(from: Self.version("1.0"), to: Self.version(version)))
    }

    private static let requirements = Change.Move(
        from: Requirements(), to: Requirements([row("2.0", .waiting)]))

    private static func bump(isUrgent: Bool = false) -> VersionBump {
        var bump = VersionBump(app: app, required: version("2.0"))
        bump.isUrgent = isUrgent
        return bump
    }

    private static func standing(
        _ from: Requirement.State, _ to: Requirement.State
    ) -> Change.Move<Change.Standing?> {
        let none = Requirements()
        return Change.Move(
            from: Change.Standing(row("2.0", from), in: none), to: Change.Standing(row("2.0", to), in: none))
    }

    private static func facts(_ state: CampaignState, _ reason: String? = nil) -> CampaignFacts {
        var facts = CampaignFacts(
            key: CampaignKey(row: 1), requirement: 1, state: state, createdAt: now, expiresAt: now,
            timeToLive: .seconds(60), downloadURL: "https://example.com")
        facts.reason = reason
        return facts
    }

    private static func move(
        _ from: CampaignState, _ to: CampaignState, isUrgent: Bool = false
    ) -> Change.Move<CampaignFacts> {
        var new = facts(to)
        if isUrgent { new.urgentAt = now }
        return Change.Move(from: facts(from), to: new)
    }
}
