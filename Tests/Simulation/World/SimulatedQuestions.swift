// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import UpgradeRules
import VersionSources

/// The stores and files, as the relay's sources ask them. The model learns of each answer at the moment when it is given.
///
/// Unchecked: only the world's thread uses it.
final class SimulatedQuestions: SourceQuestions, @unchecked Sendable {
    private unowned let world: World
    /// By app: the versions in Google's last list. Of the releases that an edit shows, only these count as published.
    private var listed: [Int: Set<Int>] = [:]
    private static let silence = SourceFault("no answer in 20 s")

    init(_ world: World) { self.world = world }

    private static func app(_ name: String) -> Int { name.last.flatMap { Int(String($0)) } ?? 0 }

    func lookup(_ key: LookupKey, in source: AppStoreSource) -> Result<AppStoreEntry?, SourceFault> {
        let app = Self.app(source.server)
        guard world.stores[app].answers else { return .failure(Self.silence) }
        world.tells(app)
        let shown = world.stores[app].releases.filter { $0.percent == 100 && !$0.isHalted }
        guard let newest = shown.max(by: { $0.version < $1.version }),
            let version = try? Version(World.text(version: newest.version))
        else { return .success(nil) }
        let isDated = world.settings.setup["dated", app] == 1
        let listing = StoreListing(
            version: version, trackViewURL: nil,
            releasedAt: isDated ? Timestamp(milliseconds: newest.shownAt) : nil)
        return .success(AppStoreEntry(listing: listing, bundleID: "com.example.app\(app)"))
    }

    func connect(
        _ question: AppStoreConnectMachine.Question, _ source: AppStoreConnectSource
    ) -> (answer: Result<AppStoreConnectMachine.Answer, SourceFault>, rate: AppStoreConnectRate?) {
        let app = Int(source.appID - 1000)
        guard world.stores[app].answers else { return (.failure(Self.silence), nil) }
        world.tells(app)
        let entries = world.stores[app].releases.compactMap { release -> AppStoreConnectPage.Entry? in
            guard let version = try? Version(World.text(version: release.version)) else { return nil }
            let isLive = release.percent == 100 && !release.isHalted
            return .init(
                id: "\(release.version)",
                release: .init(
                    version: version,
                    state: isLive ? AppStoreConnectEvidence.Release.live : "PENDING_DEVELOPER_RELEASE"),
                isPhaseKnown: true)
        }
        return (.success(.page(AppStoreConnectPage(entries: entries))), nil)
    }

    func releases(of source: GooglePlaySource) -> Result<[GooglePlaySummary], SourceFault> {
        let app = Self.app(source.packageName)
        guard world.stores[app].answers else { return .failure(Self.silence) }
        listed[app] = Set(world.stores[app].releases.map(\.version))
        return .success(
            world.stores[app].releases.map {
                GooglePlaySummary(
                    name: World.text(version: $0.version), builds: [Int64($0.version)],
                    lifecycle: GooglePlayEvidence.Release.published)
            })
    }

    func rollouts(
        of source: GooglePlaySource
    ) -> (answer: Result<[GooglePlayRollout], SourceFault>, leftover: String?) {
        let app = Self.app(source.packageName)
        guard world.stores[app].answers else { return (.failure(Self.silence), nil) }
        world.tells(app, of: listed[app])
        let rollouts = world.stores[app].releases.map { release in
            GooglePlayRollout(
                name: World.text(version: release.version), builds: [Int64(release.version)],
                status: release.isHalted ? .halted : release.percent == 100 ? .completed : .inProgress,
                fraction: Double(release.percent) / 100, countries: release.isForSomeCountries ? ["AT", "DE"] : nil)
        }
        return (.success(rollouts), nil)
    }

    func discard(_ edit: String, of source: GooglePlaySource) -> Bool { true }

    func document(
        _ source: LaunchGateURLSource, since validators: SourceDocument.Validators
    ) throws(SourceFault) -> SourceDocument {
        throw Self.silence
    }

    func file(_ path: String) throws(SourceFault) -> [UInt8] {
        let app = path.first { $0.isNumber }.flatMap { Int(String($0)) } ?? 0
        guard let version = world.files[app] else { throw SourceFault("there is no such file") }
        return Array(
            #"{"ios":{"requiredUpdate":{"minimumVersion":"\#(World.text(version: version))","message":"Please upgrade."}}}"#
                .utf8)
    }

    func keep(_ sources: [VersionSource]) {}
}
