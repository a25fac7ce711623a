// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements
package import Telemetry
package import UpgradeRules
package import VersionSources

/// The API's access to the running daemon, beyond the store: everything that the configuration or the fan-out helps to
/// decide. Called on the HTTP server's threads.
package protocol RelayControl: Sendable {
    /// Every configured app, for lists that must include apps without a version yet.
    func apps() -> [AppKey]

    /// nil when the app is not configured for the platform.
    func profile(of app: AppKey) -> AppProfile?

    /// The owner's rules for a release that a release tool announces.
    func releaseRules(of app: AppKey) -> ReleaseRules

    /// Finds the version that the app's store offers; nil when no store is configured for the app.
    func versionLookup(of app: AppKey) -> (any VersionLookup)?

    /// The operations on requirements and campaigns.
    var requirements: any RequirementOperations { get }

    /// Reads the configuration again and waits until it is applied or refused.
    ///
    /// - Throws: `ControlError.notReloaded` where it is refused, or `.stopping`.
    func reload(by actor: String) throws -> ReloadReport

    /// Called when a person has accepted a store that went back: the daemon's memory may be of another store. May wait for the
    /// store.
    func storeWasAccepted()

    /// Sends one push to a device, or to each device of a user, outside of any campaign. Waits for the answers.
    ///
    /// - Throws: `ControlError.noSuchDevice` where the user has none.
    func testPush(_ wish: TestPushRequest, by actor: String) throws -> [TestPushReport]

    /// The daemon's description of itself, for the other relays of its store.
    var node: OwnNode { get }

    /// The faults that keep the daemon from its work, or from a part of it.
    func faults() -> [ReadinessFault]

    /// The faults that will keep the daemon from its work unless an operator acts. Does not wait.
    func warnings() -> [ReadinessFault]

    /// Writes the part of `/metrics` beyond the API's own requests.
    func writeMetrics(to text: inout MetricsText)
}

/// The operations of people and webhooks on requirements and campaigns.
package protocol RequirementOperations: Sendable {
    /// Applies a bump with the configuration's additions, and wakes the fan-out.
    ///
    /// - Parameters:
    ///   - receipt: if there is one, the deciding transaction first looks for a stored answer to it.
    ///   - render: makes the answer from the outcome and the versions that devices were seen with. Called inside the
    ///     transaction, during which the store takes no other call.
    /// - Throws: `StoreError`, or `ControlError` (unknown app, no URL, payload too large).
    func bump(
        _ bump: VersionBump, by actor: Principal, receipt: WebhookReceipt?,
        render: @escaping (BumpOutcome, SeenVersions) throws -> StoredAnswer
    ) throws -> AppliedBump

    /// The dry run: the devices that would be pushed to, and one sample payload.
    func plan(_ bump: VersionBump) throws -> PlanReport

    /// The stored record with the figures that only the running process has.
    ///
    /// - Throws: `StoreError` where more must be read from the store, and that fails.
    func status(_ record: CampaignRecord) throws -> CampaignStatus

    /// Why a requested version is not in force yet; nil where all are, or where nothing is known to hold one back.
    func wait(of record: VersionRecord) -> RequirementWait?

    /// Whether one user can get the version that a requirement asks for from the app's store. From memory.
    ///
    /// - Parameter audience: where the user is.
    func offer(
        of row: Requirement, among requirements: Requirements, _ app: AppKey, to audience: AudienceCountries
    ) -> StoreOffer

    /// The versions of an app, with the reason why they wait.
    func status(_ record: VersionRecord) -> VersionStatus

    /// Unblocks versions: all of them or, with an error, none.
    ///
    /// - Throws: `StoreError` where one is not blocked.
    func unblock(_ versions: [Version], of app: AppKey, by actor: Principal, reason: String?) throws -> VersionRecord

    /// The app's hours that hold back the pushes of a version that a bump raised or blocked, once that version comes into
    /// force; nil: there are none, or that time is unknown.
    func hoursWait(of outcome: BumpOutcome) -> HoursWait?

    /// Warnings for people about the requirements as they stand. From memory.
    func warnings(of record: VersionRecord) -> [String]

    /// - Throws: `ControlError.noSuchCampaign` or `.wrongState`.
    func pause(campaign id: String, by actor: Principal) throws -> CampaignStatus
    /// - Parameter isUrgent: whether the campaign is sent at any hour from now on; for a running campaign, that is the only effect.
    func resume(campaign id: String, isUrgent: Bool, by actor: Principal) throws -> CampaignStatus
    func cancel(campaign id: String, by actor: Principal) throws -> CampaignStatus
    /// Lets a campaign go on that waits for a person: the wave before which it was held, else as `release`.
    func approve(campaign id: String, isUrgent: Bool, by actor: Principal) throws -> CampaignStatus
    /// Lets the next wave of a campaign begin, or else puts its requirement in force on every channel, whatever the store offers.
    func release(campaign id: String, isUrgent: Bool, by actor: Principal) throws -> CampaignStatus
    /// Reopens a campaign that is over, for the devices in these states (of `CampaignRound.retried`).
    func retry(
        campaign id: String, states: Set<DeliveryState>, isUrgent: Bool, by actor: Principal
    ) throws -> CampaignStatus

    /// Puts an app's requirement in force on every channel, whatever the store offers: for apps without campaigns, too.
    ///
    /// - Throws: `ControlError.wrongState` where nothing waits.
    func release(app: AppKey, isUrgent: Bool, by actor: Principal) throws -> VersionRecord

    /// Takes back an app's requirement: the previous one is in force again, on every channel.
    ///
    /// - Throws: `ControlError.wrongState` where another version is required, or none, as after an earlier withdrawal.
    func withdraw(_ required: Version, of app: AppKey, by actor: Principal, reason: String?) throws -> Withdrawal

    /// Does the act of a request, as its second person.
    ///
    /// - Returns: the request, closed.
    /// - Throws: `ControlError.noSuchApproval`, `.ownRequest`, `.wrongState`; `StaleConfirmation` where the facts that it
    ///   was asked on have changed.
    func approve(_ id: Int64, by actor: Principal) throws -> Approval

    /// - Throws: `ControlError.noSuchApproval` or `.wrongState`.
    func refuse(approval id: Int64, by actor: Principal, reason: String) throws -> Approval

    /// Erases a user, from canaries too: no channel treats the user as a member any more, and no canary pushes to the user.
    func eraseUser(_ telephone: String, by actor: Principal, where isMeant: (AppKey) -> Bool) throws -> UserErasure
}

/// The configuration of one app, as far as answers to clients need it.
package struct AppProfile: Sendable {
    package var downloadURL: String?
    package var alert: String
    /// The schemes that its download URLs may have besides https.
    package var downloadSchemes: [String]
    /// The treatment of a phone whose system is too old for the required version.
    package var belowMinimumOS = BelowMinimumOS.allow
    /// How its messages write a moment. Default: in UTC.
    package var moments = MomentWords()
    /// The texts of a push of a version without a message of its own; nil: nothing is pushed.
    package var words: PushWords?

    package init(downloadURL: String?, alert: String, downloadSchemes: [String] = []) {
        self.downloadSchemes = downloadSchemes
        self.downloadURL = downloadURL
        self.alert = alert
    }

    /// The rules for a bump of the app.
    func rules(of app: AppKey) -> BumpRules { BumpRules(platform: app.platform, schemes: downloadSchemes) }
}

/// The treatment of a user below the required version whose phone's system cannot run it.
package enum BelowMinimumOS: String, Sendable, CaseIterable {
    /// The user goes on: a force that cannot be obeyed would lock the user out for good.
    case allow
    /// The user is refused, with the message and without a link: the service ends for such phones.
    case deny
}

/// A time for which the app's hours of the day hold pushes back.
package struct HoursWait: Sendable, Hashable {
    /// When the pushes may begin.
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
    /// `record.figures.counts` with `inFlight` taken out of `pending`.
    package var counts: CampaignCounts
    package var ratePerSecond: Double
    package var secondsLeft: Int64?
    /// When a waiting campaign is expected to begin, or a running one outside its app's hours to continue; nil where that is unknown.
    package var waitingUntil: Timestamp?
    /// Why the campaign does not move; nil where it moves, or is over.
    package var wait: Wait?
    /// Pushes a second that the app's pace allows at this moment; nil: no limit.
    package var rateLimit: Double?
    /// When the next wave begins by itself; nil where no wave waits for a time.
    package var nextWaveAt: Timestamp?
    /// When the devices that are still behind are reminded next; nil: never, or never again.
    package var nextReminderAt: Timestamp?
    /// The rules between its waves; nil: it has none, or it is over.
    package var waveRules: WaveRules?

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
    /// The devices that would get the push first; nil where the bump names no telephones.
    package var canary: Int64?
    /// Why the version would not be in force at once; nil: it would.
    package var wait: RequirementWait?
    /// The payload for the first telephone that the bump names, or for a made-up one.
    package var samplePayload: [UInt8]
    /// The payload's size in bytes, as the push service counts them.
    package var samplePayloadSize: Int

    /// The version that would be required; nil where the bump is about blocks.
    package var required: Version?
    /// Whether the bump would raise the requirement, or block a new version, and so begin a campaign.
    package var rises = false
    /// The hours of the day that its first push would wait for; nil: none.
    package var hours: HoursWait?
    /// The campaign that the requirement already has.
    package var campaign: String?
    /// The waves in which it would reach the users; nil: all at once.
    package var waves: WavePlan?
    /// The devices that the bump would push to: for an existing requirement, only those that the bump newly names.
    package var toPush: Int64
    /// The same by channel; those without a device are left out.
    package var toPushByChannel: [Channel: Int64] = [:]
    /// The highest version beyond doubt (`KnownVersions.highest`), though a single device may run a newer one; nil: none.
    package var largestKnown: Version?
    /// The app's versions as the bump would leave them.
    package var planned: VersionRecord?
    /// The versions that would be blocked, with the devices that run each.
    package var blocks: [PlannedBlock] = []
    /// Whether the bump would wait for a second person.
    package var wantsSecondPerson = false
    /// Whether the bump blocks versions, and requires none.
    package var isAboutBlocks: Bool { required == nil && !blocks.isEmpty }
    /// The doubts for which the bump is refused unless each is confirmed.
    package var doubts: [Doubt] = []

    package init(survey: AudienceSurvey, samplePayload: [UInt8]) {
        self.survey = survey
        toPush = survey.toPush
        self.samplePayload = samplePayload
        samplePayloadSize = samplePayload.count
    }

    /// The devices that each channel would push to, the platform's own first; empty where one channel has all of them.
    package var pushesOfChannels: [(channel: Channel, toPush: Int64)] {
        toPushByChannel.count < 2 ? [] : toPushByChannel.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

/// One version that would be blocked, and the devices that run it.
package struct PlannedBlock: Sendable {
    package var version: Version
    /// The floor that would supersede the block's campaign at once, so that the block pushes to no device; nil: none.
    package var superseder: Version?
    package var toPush: Int64 = 0
    /// Devices on whose system no version above this one runs.
    package var osTooOld: Int64 = 0

    package init(_ version: Version) {
        self.version = version
    }
}

package struct ControlError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        case unknownApp
        case noSuchCampaign
        case noSuchApproval
        /// The person who asked, or a machine, approves.
        case ownRequest
        /// A machine asks for what a person has refused.
        case refusedBefore
        /// The campaign's state does not allow the act; the context names the state.
        case wrongState
        case noDownloadURL
        /// A dry run without any requirement: none is given, stored or derived.
        case noRequirement
        case payloadTooLarge
        case noSuchDevice
        /// A machine asks for a version that a person has withdrawn.
        case withdrawn
        /// A rise that looks like a typing error and was not confirmed.
        case implausible(field: String, proposed: Version, known: Version)
        /// The configuration file was refused; the context has the reason.
        case notReloaded
        /// The daemon is about to end.
        case stopping
    }

    package var code: Code
    package var context: String
    /// The remedy; it continues the context's sentence.
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
