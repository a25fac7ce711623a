// SPDX-License-Identifier: Apache-2.0
import PushProviders
package import RelayEngine
import RelayStore
package import Requirements
package import UpgradeRules

/// One app's way to its users, made from the configuration and ready to use.
package struct AppRoute: Sendable, Equatable {
    package var app: AppKey
    /// The push service of each channel that its devices may have. Never empty where the route is used.
    package var channels: [Channel: ChannelRoute]
    /// `page.type` of the payload.
    package var pushType: String
    /// The texts that the phone shows; their body is used where the bump has no message.
    package var words: PushWords
    /// Used where the bump brings no URL.
    package var downloadURL: String?
    package var timeToLive: Duration
    /// Whether a token that its environment calls bad is tried once in the other one, where the provider has two. Default no.
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
        app: AppKey, channels: [Channel: ChannelRoute], pushType: String, words: PushWords, downloadURL: String?,
        timeToLive: Duration
    ) {
        self.app = app
        self.channels = channels
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
        channels.count == other.channels.count
            && channels.allSatisfy { channel, own in other.channels[channel].map(own.reaches) ?? false }
    }

    /// The push service of a channel; one that refuses each push, where the configuration has none.
    package func service(_ channel: Channel) -> ChannelRoute {
        channels[channel] ?? ChannelRoute(MissingProvider(channel.provider(on: app.platform)), main.pool)
    }

    /// The configured push services, the main one first.
    package var inOrder: [(channel: Channel, service: ChannelRoute)] {
        channels.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The push service of the first channel.
    package var main: ChannelRoute {
        guard let first = channels.min(by: { $0.key < $1.key }) else { preconditionFailure("\(app) has no channel") }
        return first.value
    }

    /// Each quota that its pushes count towards.
    var quotas: [QuotaLimit] {
        inOrder.compactMap { $0.service.provider.quota }.reduce(into: []) { all, quota in
            if !all.contains(where: { $0.project == quota.project }) { all.append(quota) }
        }
    }

    /// Whether a token that a channel's service calls bad is tried once in the other environment.
    func triesOtherEnvironment(of channel: Channel) -> Bool {
        triesOtherEnvironment && service(channel).provider.hasSandbox
    }

    /// Checks whether every provider can send the payload.
    ///
    /// - Parameter longestTelephone: the bytes kept free for a telephone, in JSON.
    /// - Throws: `PayloadError`.
    package func check(_ payload: UpgradePayload, longestTelephone: Int) throws {
        for (_, service) in inOrder { try service.provider.check(payload, longestTelephone: longestTelephone) }
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

    /// The place where a push of the app was refused.
    func place(_ server: String, campaign: String, at now: Timestamp) -> SendingPlace {
        var place = SendingPlace(app: app.app, section: section, server: server, campaign: campaign, now: now)
        place.secretsNeedRestart = secretsNeedRestart
        return place
    }
}
