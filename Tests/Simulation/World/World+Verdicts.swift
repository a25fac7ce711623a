// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// The answers of every channel to every user, compared with the model's view of what is in force for whom.
extension World {
    /// The requirements of an app at the last look.
    struct Ruled {
        /// The change of the store after which they were read.
        var change: Int
        var told: ToldRequirements
    }

    /// The requirements of an app as stored; nil where there are none, or the store cannot be read.
    private func told(_ app: Int, _ relay: Relay) -> (ToldRequirements, VersionRecord)? {
        guard let record = try? relay.store.version(of: settings.key(app)) else { return nil }
        let rows = record.requirements.rows.map(Self.told)
        return (
            ToldRequirements(rows: rows, endsOlderSystems: settings.setup["ends", app] == 1) { requirement, user in
                UserDraw(requirement: requirement).part(of: Phone.telephone(user).utf8)
            }, record
        )
    }

    private static func told(_ row: Requirement) -> ToldRequirement {
        ToldRequirement(
            id: row.id, kind: row.kind == .blocked ? .block : row.kind == .latest ? .latest : .floor,
            version: number(of: row.version.text), state: row.state.rawValue, reach: row.reach,
            canary: row.canary.map { Set($0.compactMap(Phone.user)) }, isGated: row.isGated,
            isReleased: row.isReleased, minimum: row.minimumOS.map(tenths), moment: row.requiredFrom?.milliseconds,
            build: row.build)
    }

    static func tenths(_ system: Version) -> Int {
        let parts = system.segments
        return Int(parts.first ?? 0) * 10 + Int(parts.count > 1 ? parts[1] : 0)
    }

    private static func system(_ tenths: Int?) -> Version? { tenths.flatMap { try? Version("\($0 / 10).\($0 % 10)") } }

    /// After each step: every decision since the last one is on each channel, for all users.
    func judgeVerdicts(_ app: Int) {
        guard let relay, !isDiskFailing, !isBack else { return }
        undisturbed {
            if watched.ruled[app]?.change != change {
                guard let (told, record) = told(app, relay) else { return }
                let isNews = watched.ruled[app]?.told != told
                watched.ruled[app] = Ruled(change: change, told: told)
                judgeWords(app, told)
                judgeForces(app, record)
                if isNews {
                    judgePage(record, told, app)
                    judgeChecks(app, told, relay)
                }
            }
            if let told = watched.ruled[app]?.told {
                judgeStores(app, told)
                judgeDocument(app, told, relay)
            }
            watched.forces[app]?.looked(at: clock.now.wall.milliseconds)
        }
    }

    /// The moment that `version show` and the API give as "in force since" is that for everybody, not that of a canary or of a first wave.
    private func judgeForces(_ app: Int, _ record: VersionRecord) {
        let rows = record.requirements.rows.filter { $0.isForEverybody && $0.kind != .latest }
        let wrong = watched.forces[app, default: ForceMoments()].look(
            at: clock.now.wall.milliseconds, isClockRight: !wasClockSet,
            rows.map { ($0.id, $0.inForceAt?.milliseconds) })
        guard let wrong, let row = rows.first(where: { $0.id == wrong.requirement }) else { return }
        model.broke(
            "inForce.since",
            "\(row.version) of app \(app) \(row.kind == .blocked ? "is blocked" : "is required") of everybody: \(wrong.why)"
        )
    }

    // MARK: The login check and proxies

    private func judgeChecks(_ app: Int, _ told: ToldRequirements, _ relay: Relay) {
        let named = told.rows.lazy.filter(\.isLive).compactMap(\.canary).reduce(into: Set<Int>()) { $0.formUnion($1) }
        var users = Array(named.sorted().prefix(6))
        let others = phones.lazy.filter { $0.app == app }.compactMap(\.user)
        // One in eight of many users, different ones each time.
        users += Set(others).subtracting(named).sorted().enumerated()
            .filter { settings.setup["devices"] <= 8 || ($0.offset + change) % 8 == 0 }.map(\.element)
        let systems: [Int?] = settings.setup["system", app] == 1 ? [nil, 148, 150, 152] : [nil]
        let versions = told.edges.map(Installed.init)
        for system in systems {
            for version in versions { judgeProxy(app, version, system, told, relay) }
            judgeCheck(app, versions, Listener(user: nil, system: system), told, relay)
            for user in users {
                for isProven in [true, false] where isProven || named.contains(user) {
                    judgeCheck(app, versions, Listener(user: user, isProven: isProven, system: system), told, relay)
                }
            }
        }
        judgeCheck(app, [Installed(nil)], Listener(user: users.first), told, relay)
    }

    /// A version that a device may have, as the model and as the relay name it.
    private struct Installed {
        let number: Int?
        let version: Version?

        init(_ number: Int?) {
            (self.number, version) = (number, number.flatMap { try? Version(World.text(version: $0)) })
        }
    }

    private func judgeCheck(
        _ app: Int, _ versions: [Installed], _ listener: Listener, _ told: ToldRequirements, _ relay: Relay
    ) {
        let user = UpgradeRule.User(
            listener.user.map(Phone.telephone), isProven: listener.isProven, system: Self.system(listener.system))
        let (newest, floor) = (told.newest(listener), told.floor(listener)?.version)
        for installed in versions {
            guard let answer = relay.cache.check(settings.key(app), version: installed.version, user: user) else {
                return
            }
            let hearing = told.hearing(installed.number, listener)
            var words = Self.words(answer.content.usual)
            let counted = answer.toldAtLogin?.version
            if counted.map({ Self.number(of: $0.text) }) != hearing.version {
                words += ", to be counted as told of \(counted?.text ?? "nothing")"
            }
            let expected = Self.login(hearing, newest, floor)
            guard words != expected else { continue }
            model.broke(
                "channels.verdict",
                "the login check of app \(app) says to \(shown(installed.number, listener)): \(words); it must say: \(expected)"
            )
        }
    }

    /// The answer of the login check: which of the three, and the versions in it.
    private static func login(_ hearing: Hearing, _ latest: Int?, _ required: Int?) -> String {
        func versions(_ block: Int?) -> String {
            [("latest", latest), ("required", required), ("blocked", block)]
                .compactMap { name, version in version.map { " \(name) \(text(version: $0))" } }.joined()
        }
        return switch hearing {
        case .nothing, .unknown: "hasNewVersion 0 needUpgrade 0" + versions(nil)
        case .may: "hasNewVersion 1 needUpgrade 0" + versions(nil)
        case .must(let version, let isBlock): "hasNewVersion 1 needUpgrade 1" + versions(isBlock ? version : nil)
        case .ends(let version, let isBlock):
            "hasNewVersion 0 needUpgrade 1 \(isBlock ? "blocked" : "required") \(text(version: version))"
        }
    }

    private static func words(_ content: PreparedContent) -> String {
        let text = SaidText(content)
        return ["hasNewVersion", "needUpgrade", "latest", "required", "blocked"].compactMap { name in
            text.value(name).map { "\(name) \($0)" }
        }.joined(separator: " ")
    }

    /// A proxy does not know the user, but may know the system.
    private func judgeProxy(
        _ app: Int, _ installed: Installed, _ system: Int?, _ told: ToldRequirements, _ relay: Relay
    ) {
        guard let number = installed.number, let version = installed.version else { return }
        let verdict = relay.cache.enforce(settings.key(app), version: version, system: Self.system(system)).1
        var (words, expected) = ("passes", "passes")
        if case .denied(let refusal) = verdict {
            let text = SaidText(refusal.response(.upgradeRequired).body)
            words =
                "426"
                + ["required", "blocked"].compactMap { name in text.value(name).map { " \(name) \($0)" } }
                .joined()
            if text.contains("os-too-old") { words += " ended" }
        }
        switch told.hearing(number, Listener(user: nil, system: system)) {
        case .must(let version, let isBlock):
            expected = "426 \(isBlock ? "blocked" : "required") \(Self.text(version: version))"
        case .ends(let version, let isBlock):
            expected = "426 \(isBlock ? "blocked" : "required") \(Self.text(version: version)) ended"
        case .nothing, .may, .unknown: break
        }
        guard words != expected else { return }
        model.broke(
            "channels.verdict",
            "/v1/enforce of app \(app) answers \(shown(number, Listener(user: nil, system: system))): \(words); it must answer: \(expected)"
        )
    }

    // MARK: Views of all users

    /// The record that the page, `version show` and lists are made of.
    private func judgePage(_ record: VersionRecord, _ told: ToldRequirements, _ app: Int) {
        let nobody = Listener(user: nil)
        func words(_ versions: [(String, Int?)], _ blocked: [Int]) -> String {
            (versions.map { "\($0.0) \($0.1.map(Self.text) ?? "nothing")" } + ["blocked \(blocked.sorted())"])
                .joined(separator: ", ")
        }
        let said = words(
            [
                ("in force", record.inForce.required.map { Self.number(of: $0.text) }),
                ("announced", record.inForce.latest.map { Self.number(of: $0.text) }),
                ("required", record.required.map { Self.number(of: $0.text) }),
            ], record.requirements.blocked.map { Self.number(of: $0.text) })
        let expected = words(
            [
                ("in force", told.floor(nobody)?.version), ("announced", told.newest(nobody)),
                ("required", told.rows.filter { $0.kind == .floor && $0.isLive }.map(\.version).max()),
            ], told.rows.filter { $0.kind == .block && $0.isLive }.map(\.version))
        guard said != expected else { return }
        model.broke("channels.verdict", "the page says of app \(app): \(said); it must say: \(expected)")
    }

    /// In one history of four: the document depends on what devices have reported, so the cache reads that first, as its thread does each
    /// second.
    private func judgeDocument(_ app: Int, _ told: ToldRequirements, _ relay: Relay) {
        let key = settings.key(app)
        guard settings.setup["chance"] % 4 == 2, watched.documented[app] != change else { return }
        watched.documented[app] = change
        relay.cache.refresh()
        guard let seen = try? relay.store.seenVersions(of: key), let content = relay.cache.document(key.app) else {
            return
        }
        let systems = seen.systems.map(Self.tenths)
        let nobody = Listener(user: nil)
        let floor = told.floor(nobody, on: systems)
        let newest = told.newest(nobody, on: systems)
        var required: String?
        var optional: String?
        if settings.isAndroid(app) {
            // Versions of the same number may come with a code and without one.
            required = floor?.build.map(String.init)
            optional = nil
        } else {
            optional = newest.flatMap { newest in
                floor.map { $0.version < newest } ?? true ? Self.text(version: newest) : nil
            }
            let isAnybodyBelow =
                seen.isEmpty || seen.unknown > 0
                || seen.versions.contains { one in floor.map { Self.number(of: one.version.text) < $0.version } ?? true
                }
            required = floor.flatMap { isAnybodyBelow || optional == nil ? Self.text(version: $0.version) : nil }
        }
        let text = SaidText(content)
        let platform = settings.isAndroid(app) ? #""android":"# : #""ios":"#
        let said = [
            text.value("minimumVersion", after: platform),
            settings.isAndroid(app) ? nil : text.value("optionalVersion", after: platform),
        ]
        guard said != [required, optional] else { return }
        model.broke(
            "channels.verdict",
            "the launch document of app \(app) requires \(said[0] ?? "nothing") and offers \(said[1] ?? "nothing"); it must require "
                + "\(required ?? "nothing") and offer \(optional ?? "nothing")")
    }

    /// The explanation of one device.
    func judgeExplained(_ device: UserExplanation.Device, _ app: Int) {
        guard let told = watched.ruled[app]?.told, watched.ruled[app]?.change == change else { return }
        let registration = device.record.registration
        let version = registration.version.map { Self.number(of: $0.text) }
        let listener = Listener(
            user: registration.telephone.flatMap(Phone.user), system: registration.osVersion.map(Self.tenths))
        let login: UserExplanation.Word.Says =
            switch told.hearing(version, listener) {
            case .nothing, .unknown: .nothing
            case .may: .mayUpgrade
            case .must: .mustUpgrade
            case .ends: .denied
            }
        let nobody = Listener(user: nil, system: listener.system)
        let proxy: UserExplanation.Word.Says =
            switch told.hearing(version, nobody) {
            case _ where version == nil: .unknown
            case .must, .ends: .denied
            case .nothing, .may, .unknown: .passes
            }
        var isPushed = false
        switch told.hearing(version, listener) {
        case .must, .unknown: isPushed = true
        case .nothing, .may, .ends: break
        }
        let words = [("the login check", device.login.says, login), ("/v1/enforce", device.enforce.says, proxy)]
        for (channel, says, expected) in words where says != expected {
            model.broke(
                "channels.verdict",
                "\(channel) is explained as \(says.rawValue) to \(shown(version, listener)) of app \(app); it must be \(expected.rawValue)"
            )
        }
        if !isPushed, device.push.says != .notPushed {
            model.broke(
                "channels.verdict",
                "a push to \(shown(version, listener)) of app \(app) is explained as \(device.push.says.rawValue): \(device.push.why); nothing is for him"
            )
        }
    }

    // MARK: Words

    private func shown(_ version: Int?, _ listener: Listener) -> String {
        "\(listener.user.map { "user \($0)" } ?? "somebody")\(listener.isProven ? "" : " without proof") with "
            + (version.map(Self.text) ?? "no version")
            + (listener.system.map { " on system \($0 / 10).\($0 % 10)" } ?? "")
    }
}

extension Hearing {
    /// The version that must be installed, or left.
    fileprivate var version: Int? {
        if case .must(let version, _) = self { version } else { nil }
    }
}
