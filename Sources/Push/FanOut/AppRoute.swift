// SPDX-License-Identifier: Apache-2.0
package import HTTP2
package import PushProviders
package import RelayEngine
package import RelayStore
package import UpgradeRules

/// One app's way to its users, made from the configuration and ready to use.
package struct AppRoute: Sendable, Equatable {
    package var app: AppKey
    package var provider: any PushProvider
    /// The sandbox's, where it has a credential of its own. Default nil: the same.
    package var sandboxProvider: (any PushProvider)?
    package var production: PoolConfiguration
    package var sandbox: PoolConfiguration
    /// `page.type` of the payload.
    package var pushType: String
    /// The words that the phone shows; their body where the bump brings no message.
    package var words: PushWords
    /// Used where the bump brings no URL.
    package var downloadURL: String?
    package var timeToLive: Duration
    /// Whether a token that its environment calls bad is tried once in the other one. Default no.
    package var triesOtherEnvironment = false
    /// How fast its pushes may go out. Default as fast as they can.
    package var pace: Pace?
    /// When its pushes may begin. Default at any time.
    package var hours: SendingHours?
    /// The parts that a new campaign's audience goes out in. Default none: all at once.
    package var waves: WavePlan?
    /// The rules between waves; nil where there are no waves.
    package var waveRules: WaveRules?
    /// The times after a campaign's start, ascending, at which users who are still behind are pushed to again. Default never.
    package var reminders = ReminderSchedule([])
    /// Whether its secrets are renewed by a restart alone (`SendingPlace.secretsNeedRestart`). Default yes.
    package var secretsNeedRestart = true

    package init(
        app: AppKey, provider: any PushProvider, production: PoolConfiguration, sandbox: PoolConfiguration,
        pushType: String, words: PushWords, downloadURL: String?, timeToLive: Duration
    ) {
        self.app = app
        self.provider = provider
        self.production = production
        self.sandbox = sandbox
        self.pushType = pushType
        self.words = words
        self.downloadURL = downloadURL
        self.timeToLive = timeToLive
    }

    /// How its messages write a moment.
    package var moments: MomentWords { MomentWords(zone: hours?.zone) }

    /// The settings that a campaign of this app inherits.
    package var draft: CampaignDraft {
        CampaignDraft(downloadURL: downloadURL, timeToLive: timeToLive, waves: waves)
    }

    /// Two routes are equal where a reload from one to the other changes nothing.
    package static func == (left: AppRoute, right: AppRoute) -> Bool {
        left.reaches(as: right) && left.app == right.app && left.pushType == right.pushType
            && left.words == right.words && left.downloadURL == right.downloadURL
            && left.timeToLive == right.timeToLive && left.triesOtherEnvironment == right.triesOtherEnvironment
            && left.pace == right.pace && left.hours == right.hours && left.waves == right.waves
            && left.waveRules == right.waveRules && left.reminders == right.reminders
    }

    /// Whether the same connections serve both.
    package func reaches(as other: AppRoute) -> Bool {
        Channel.allCases.allSatisfy { channel in
            provider(for: channel).identity == other.provider(for: channel).identity
                && pool(for: channel) == other.pool(for: channel)
        }
    }

    /// The provider for pushes to one environment. The two differ in their credentials at most.
    package func provider(for channel: Channel) -> any PushProvider {
        switch channel.environment {
        case .production: provider
        case .sandbox: sandboxProvider ?? provider
        }
    }

    /// - Parameter target: nil: the app takes the push whatever version it runs.
    package func payload(
        message: String?, downloadURL: String, target: UpgradeTarget?, build: Int64?
    ) -> UpgradePayload {
        UpgradePayload(
            type: pushType, words: words.saying(message), downloadURL: downloadURL, required: target?.required,
            blocked: target?.blocked, build: build)
    }

    func payload(of campaign: CampaignRecord) -> UpgradePayload {
        // The languages of phones are not known.
        payload(
            message: campaign.requirement.words(moments)?.text, downloadURL: campaign.facts.downloadURL,
            target: campaign.requirement.target,
            build: campaign.requirement.build)
    }

    /// The app's part of the configuration, as an operator finds it there.
    var section: String { "apps[\"\(app.app)\"].\(app.platform.rawValue)" }

    /// Where its pushes were refused.
    func place(_ server: String, campaign: String, at now: Timestamp) -> SendingPlace {
        var place = SendingPlace(app: app.app, section: section, server: server, campaign: campaign, now: now)
        place.secretsNeedRestart = secretsNeedRestart
        return place
    }

    package func pool(for channel: Channel) -> PoolConfiguration {
        switch channel.environment {
        case .production: production
        case .sandbox: sandbox
        }
    }
}
