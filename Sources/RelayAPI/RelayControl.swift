// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Telemetry
package import UpgradeRules
package import VersionSources

/// What the API asks of the running daemon beyond the store: everything that configuration or the fan-out has a say in.
/// Called on the HTTP server's threads.
package protocol RelayControl: Sendable {
    /// Every app that is configured, for lists that must not forget those without a version yet.
    func apps() -> [AppKey]

    /// nil when the app is not configured for the platform.
    func profile(of app: AppKey) -> AppProfile?

    /// What the owner wants done with a release that a release tool announces.
    func releaseRules(of app: AppKey) -> ReleaseRules

    /// Who can be asked which version the app's store offers; nil when no store is configured for the app.
    func versionLookup(of app: AppKey) -> (any VersionLookup)?

    /// Who is asked about requirements and campaigns.
    var requirements: any RequirementOperations { get }

    /// Reads the configuration anew and waits for the verdict.
    ///
    /// - Throws: `ControlError.notReloaded` where it is refused, `.stopping`.
    func reload(by actor: String) throws -> ReloadReport

    /// A person has taken on a store that went back: what the daemon remembers may be of another one. May wait for the store.
    func storeWasAccepted()

    /// Sends one push to a device, or to each of a user's, outside of any campaign. Waits for the answers.
    ///
    /// - Throws: `ControlError.noSuchDevice` where the user has none.
    func testPush(_ wish: TestPushWish, by actor: String) throws -> [TestPushReport]

    /// What it says of itself to the other relays of its store.
    var node: OwnNode { get }

    /// What keeps it from its work, or from a part of it.
    func faults() -> [ReadinessFault]

    /// What will keep it from its work unless somebody sees to it. Known at once.
    func warnings() -> [ReadinessFault]

    /// Writes what `/metrics` reports beyond the API's own requests.
    func writeMetrics(to text: inout MetricsText)
}

/// What people and webhooks do with requirements and campaigns.
package protocol RequirementOperations: Sendable {
    /// Applies a bump with what the configuration adds, and wakes the fan-out.
    ///
    /// - Parameters:
    ///   - receipt: with one, the transaction that decides looks first whether it was answered before.
    ///   - render: makes the answer of what came of it and of the versions that devices were seen with. Called inside the transaction,
    ///     in which the store takes no other call.
    /// - Throws: `StoreError`, or `ControlError` (unknown app, no URL, payload too large).
    func bump(
        _ bump: VersionBump, by actor: Principal, receipt: WebhookReceipt?,
        render: @escaping (BumpOutcome, SeenVersions) throws -> StoredAnswer
    ) throws -> AppliedBump

    /// The dry run: who would be pushed, and one sample payload.
    func plan(_ bump: VersionBump) throws -> PlanReport

    /// The stored record with what only the running process knows.
    func status(_ record: CampaignRecord) -> CampaignStatus

    /// Why what is asked for is not in force yet; nil where all of it is, or where nothing is known to hold it.
    func wait(of record: VersionRecord) -> GateVerdict?

    /// The versions of an app with why they wait.
    func status(_ record: VersionRecord) -> VersionStatus

    /// Lets versions be used again that were to be left: all of them, or none.
    ///
    /// - Throws: `StoreError` where one is not blocked.
    func unblock(_ versions: [Version], of app: AppKey, by actor: Principal, reason: String?) throws -> VersionRecord

    /// What keeps pushes back that would begin as what a bump raised or blocked comes into force: the hours of the day; nil: nothing does,
    /// or nobody knows when that is.
    func hoursWait(of outcome: BumpOutcome) -> HoursWait?

    /// What the app's store says of what is required, that a person should know. Asks nobody.
    func warnings(of record: VersionRecord) -> [String]

    /// - Throws: `ControlError.noSuchCampaign` or `.wrongState`.
    func pause(campaign id: String, by actor: Principal) throws -> CampaignStatus
    /// - Parameter isUrgent: it is sent whatever the hour from now on; of one that runs that is all that happens.
    func resume(campaign id: String, isUrgent: Bool, by actor: Principal) throws -> CampaignStatus
    func cancel(campaign id: String, by actor: Principal) throws -> CampaignStatus
    /// Puts a waiting campaign's requirement in force on every channel, whatever the store offers, or lets the next wave of
    /// a running one begin.
    func release(campaign id: String, isUrgent: Bool, by actor: Principal) throws -> CampaignStatus
    /// Opens a campaign again that is over, for the devices in these states (of `CampaignRound.retried`).
    func retry(
        campaign id: String, states: Set<DeliveryState>, isUrgent: Bool, by actor: Principal
    ) throws -> CampaignStatus

    /// Puts what an app requires in force on every channel, whatever the store offers: for apps without campaigns, too.
    ///
    /// - Throws: `ControlError.wrongState` where nothing waits.
    func release(app: AppKey, isUrgent: Bool, by actor: Principal) throws -> VersionRecord

    /// Takes back what an app requires: what was required before is so again, on every channel.
    ///
    /// - Throws: `ControlError.wrongState` where another version is required, or none: it was withdrawn already.
    func withdraw(_ required: Version, of app: AppKey, by actor: Principal, reason: String?) throws -> Withdrawal

    /// Forgets a user, whom a canary may have named: no channel answers him as one of it any more, and no push of it goes to him.
    func eraseUser(_ telephone: String, by actor: Principal, where isMeant: (AppKey) -> Bool) throws -> UserErasure
}

/// What the configuration says of one app, as far as answers to clients need it.
package struct AppProfile: Sendable {
    package var downloadURL: String?
    package var alert: String
    /// What its download URLs may begin with beside https.
    package var downloadSchemes: [String]
    /// What becomes of a phone whose system is too old for what is required.
    package var belowMinimumOS = BelowMinimumOS.allow
    /// How its messages say a moment. Default: in UTC.
    package var moments = MomentWords()

    package init(downloadURL: String?, alert: String, downloadSchemes: [String] = []) {
        self.downloadSchemes = downloadSchemes
        self.downloadURL = downloadURL
        self.alert = alert
    }

    /// What a bump of the app may hold.
    func rules(of app: AppKey) -> BumpRules { BumpRules(platform: app.platform, schemes: downloadSchemes) }
}

/// What becomes of who is below what is required, and cannot have it on the system of that phone.
package enum BelowMinimumOS: String, Sendable, CaseIterable {
    /// Goes on: a force that cannot be obeyed locks its user out for good.
    case allow
    /// Is refused, with the message and without a link: the service ends for such phones.
    case deny
}

/// The hours of the day keep pushes back.
package struct HoursWait: Sendable, Hashable {
    /// When they may begin.
    package var until: Timestamp
    /// For people: why, until when, and what ends it earlier.
    package var text: String

    package init(until: Timestamp, text: String) {
        self.until = until
        self.text = text
    }
}

package struct CampaignStatus: Sendable {
    package var record: CampaignRecord
    /// `record.counts` with `inFlight` taken out of `pending`.
    package var counts: CampaignCounts
    package var ratePerSecond: Double
    package var secondsLeft: Int64?
    /// When a waiting campaign is expected to begin, or one that runs to go on, outside its app's hours; nil where nobody knows yet.
    package var waitingUntil: Timestamp?
    /// Why it does not move; nil where it moves, or is over.
    package var wait: Wait?
    /// Pushes a second that the app's pace allows at this moment; nil: as many as go.
    package var rateLimit: Double?
    /// When the next wave begins by itself; nil where none waits for its time.
    package var nextWaveAt: Timestamp?
    /// When those who are still behind are reminded next; nil: never, or never again.
    package var nextReminderAt: Timestamp?

    package init(
        record: CampaignRecord, counts: CampaignCounts, ratePerSecond: Double, secondsLeft: Int64?,
        waitingUntil: Timestamp? = nil
    ) {
        self.record = record
        self.waitingUntil = waitingUntil
        self.counts = counts
        self.ratePerSecond = ratePerSecond
        self.secondsLeft = secondsLeft
    }
}

package struct PlanReport: Sendable {
    package var survey: AudienceSurvey
    /// Of those who would get a push, the devices that get it first; nil where the bump names no telephones.
    package var canary: Int64?
    /// What the app's gate says of the version now; nil where it has none: it would be in force at once.
    package var gate: GateVerdict?
    /// What a phone would get, with a made-up telephone where the registry has none.
    package var samplePayload: [UInt8]
    /// As the push service counts it.
    package var samplePayloadSize: Int

    /// What would be required.
    package var required: Version?
    /// Whether the bump would raise the requirement, and so begin a campaign.
    package var rises = false
    /// The hours of the day that its first push would wait for; nil: none.
    package var hours: HoursWait?
    /// The campaign that tells of it already.
    package var campaign: String?
    /// The parts of the users that it would reach one after the other; nil: all at once.
    package var waves: WavePlan?
    /// The devices that the bump would push to: of a requirement that is there already those alone whom it names anew.
    package var toPush: Int64
    /// `KnownVersions.highest`: beyond doubt, though a single device may run a newer one; nil where none is known.
    package var largestKnown: Version?
    /// What would be asked for.
    package var planned: VersionRecord?
    /// Of the versions that would be blocked: who runs each.
    package var blocks: [PlannedBlock] = []
    /// Whether it blocks versions, and requires none.
    package var isAboutBlocks: Bool { required == nil && !blocks.isEmpty }
    /// What the bump is refused for unless each is confirmed.
    package var doubts: [Doubt] = []

    package init(survey: AudienceSurvey, samplePayload: [UInt8]) {
        self.survey = survey
        toPush = survey.toPush
        self.samplePayload = samplePayload
        samplePayloadSize = samplePayload.count
    }
}

/// One version that would be blocked, and the devices that run it.
package struct PlannedBlock: Sendable {
    package var version: Version
    /// The floor that takes its place at once: its campaign is superseded, and pushes to nobody. nil: none.
    package var superseder: Version?
    package var toPush: Int64 = 0
    /// Those on whose system no version above it runs.
    package var osTooOld: Int64 = 0

    package init(_ version: Version) {
        self.version = version
    }
}

package struct ControlError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        case unknownApp
        case noSuchCampaign
        /// The campaign's state does not allow it; the context names it.
        case wrongState
        case noDownloadURL
        /// A dry run of no requirement at all.
        case noRequirement
        case payloadTooLarge
        case noSuchDevice
        /// A machine asks for what a person has taken back.
        case withdrawn
        /// A rise that looks like a typing error and is not confirmed.
        case implausible(field: String, proposed: Version, known: Version)
        /// The configuration file is not taken; the context says why.
        case notReloaded
        /// The daemon is about to end.
        case stopping
    }

    package var code: Code
    package var context: String
    /// What would help; it goes on the context's sentence.
    package var hint: String?

    package init(_ code: Code, context: String, hint: String? = nil) {
        self.code = code
        self.context = context
        self.hint = hint
    }

    package var description: String {
        hint.map { "\(context); \($0)" } ?? context
    }
}
