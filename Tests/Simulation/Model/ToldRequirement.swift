// SPDX-License-Identifier: Apache-2.0

/// A requested version, as the relay's store has it, in the model's terms.
struct ToldRequirement: Equatable {
    enum Kind { case floor, latest, block }

    var id: Int64
    var kind: Kind
    var version: Int
    /// As the store has it: "waiting", "in_force".
    var state: String
    /// In ten-thousandths of the users; 0: only the named users.
    var reach: Int
    /// nil: it names no users.
    var canary: Set<Int>?
    var isGated = false
    var isReleased = false
    /// The oldest system that it runs on, in tenths; nil: any.
    var minimum: Int?
    /// In milliseconds since 1970.
    var moment: Int64?
    /// Android's version code.
    var build: Int64?

    static let all = 10_000

    var isLive: Bool { state != "withdrawn" }
    var isInForce: Bool { state == "in_force" }
    var isAnnounced: Bool { isInForce || state == "announced" }

    func concerns(_ installed: Int?) -> Bool {
        guard let installed else { return kind != .block }
        return kind == .block ? installed == version : installed < version
    }

    func runs(on system: Int?) -> Bool {
        guard let minimum, let system else { return true }
        return system >= minimum
    }
}

/// A client of a channel.
struct Listener: Hashable {
    /// nil: the user is unknown.
    var user: Int?
    /// Whether a push token proves the user.
    var isProven = true
    /// In tenths; nil: unknown.
    var system: Int?
}

/// The answer that a user must get on every channel.
enum Hearing: Equatable {
    case nothing
    /// Notified of an optional version.
    case may(Int)
    case must(Int, isBlock: Bool)
    /// The same for a device on which no such version runs, where the service ends for those.
    case ends(Int, isBlock: Bool)
    /// A version is required, and the client's own version is unknown.
    case unknown
}

/// All requested versions of an app, and the answers that follow from them for a client: VERSIONS.md, by rules of the model's own.
struct ToldRequirements: Equatable {
    var rows: [ToldRequirement]
    /// Whether the service ends for systems that are too old (`belowMinimumOs`).
    var endsOlderSystems = false
    /// The part of the users that a user is drawn into, by requirement. Another promise covers the fairness of the draw.
    var part: (_ requirement: Int64, _ user: Int) -> Int

    static func == (left: ToldRequirements, right: ToldRequirements) -> Bool {
        left.rows == right.rows && left.endsOlderSystems == right.endsOlderSystems
    }

    /// Whether a higher floor is in force for all users that this row is, or would be, for.
    func isSuperseded(_ row: ToldRequirement) -> Bool {
        row.kind != .latest
            && rows.contains { other in
                other.kind == .floor && other.isInForce && other.version > row.version
                    && (other.reach == ToldRequirement.all || row.reach < ToldRequirement.all)
            }
    }

    /// Whether a row forces this user to get, or leave, the version.
    func forces(_ row: ToldRequirement, _ listener: Listener) -> Bool {
        guard row.kind != .latest, row.isInForce else { return false }
        if row.reach == ToldRequirement.all { return true }
        guard let user = listener.user, !isSuperseded(row) else { return false }
        return listener.isProven && row.canary?.contains(user) ?? false || part(row.id, user) < row.reach
    }

    /// Whether a row announces to everybody that the version is available.
    func announces(_ row: ToldRequirement) -> Bool {
        guard row.isAnnounced else { return false }
        switch row.kind {
        case .block: return false
        case .latest:
            return !rows.contains { $0.kind == .block && $0.isInForce && $0.version == row.version }
        case .floor:
            // A version that is announced ahead of its moment stays announced for users whom its waves have not reached.
            let isAnnouncedToAll = row.moment != nil && row.canary == nil
            return row.reach == ToldRequirement.all || isAnnouncedToAll
        }
    }

    /// The highest floor that this user must have. `newest`: the highest version that the user is notified of.
    func floor(_ listener: Listener, on systems: [Int] = []) -> ToldRequirement? {
        rows.filter { row in
            row.kind == .floor && forces(row, listener) && row.runs(on: listener.system)
                && systems.allSatisfy { row.runs(on: $0) }
        }
        .max { $0.version < $1.version }
    }

    func newest(_ listener: Listener, on systems: [Int] = []) -> Int? {
        rows.filter { row in
            row.kind != .block && (announces(row) || forces(row, listener)) && row.runs(on: listener.system)
                && systems.allSatisfy { row.runs(on: $0) }
        }
        .map(\.version).max()
    }

    /// The answer for a user with this version; nil: the version is unknown.
    func hearing(_ version: Int?, _ listener: Listener) -> Hearing {
        let about = rows.filter { $0.concerns(version) }
        func highest(_ rows: [ToldRequirement]) -> ToldRequirement? {
            rows.max { ($0.version, $0.kind == .block ? 1 : 0) < ($1.version, $1.kind == .block ? 1 : 0) }
        }
        let forcing = about.filter { forces($0, listener) }
        if let row = highest(forcing.filter { $0.runs(on: listener.system) }) {
            return version == nil ? .unknown : .must(row.version, isBlock: row.kind == .block)
        }
        guard version != nil else { return .nothing }
        if endsOlderSystems, let row = highest(forcing) { return .ends(row.version, isBlock: row.kind == .block) }
        let told = about.filter { announces($0) && $0.runs(on: listener.system) }
        return told.map(\.version).max().map { .may($0) } ?? .nothing
    }

    /// Versions at which an answer may change: the four highest announced ones, and just below each.
    var edges: [Int] {
        let told = Set(rows.lazy.filter(\.isAnnounced).map(\.version)).sorted(by: >).prefix(4)
        return Set([-99] + told.flatMap { [$0 - 1, $0] }).sorted()
    }
}
