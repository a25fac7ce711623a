// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements

/// Waves are of users, and each begins when it may and no sooner.
extension World {
    /// A user gets one more phone: it is of the user's wave and canary.
    func secondPhone(of place: Int, _ name: String) throws -> String? {
        guard let user = phones[place].user, phones.count < settings.setup["devices"] * settings.apps.count + 6 else {
            return nil
        }
        let old = phones[place]
        var phone = Phone(
            number: 1000 + phones.count, app: old.app, isAndroid: old.isAndroid, user: user, version: 1,
            isSandbox: old.isSandbox, isAstray: old.isAstray)
        phone.system = old.system
        phones.append(phone)
        noteToken(of: phones.count - 1)
        do { try put(phones.count - 1) } catch {
            phones.removeLast()
            throw error
        }
        return "user \(user) of \(name) has phone \(phone.number), too"
    }

    /// A batch comes into the lane. A push that it brings for the first time was read in its own wave. The moment at which it leaves does
    /// not show the wave: a push that the lane hands back has had its turn, and leaves in any wave that has begun since.
    func judgeWaves(of pushes: [SeenPush], at place: PushPlace) {
        guard settings.setup["waves", place.app] > 0 else { return }
        observeCampaigns()
        for push in pushes { judgeWave(push) }
    }

    /// A push comes into the lane for the first time: all devices that stay with one user are of one wave.
    private func judgeWave(_ push: SeenPush) {
        guard let campaign = told[push.campaign]?.campaign, campaign.waves > 0, let user = Phone.user(push.telephone),
            settings.setup["sandbox", push.app] + settings.setup["astray", push.app] == 0,
            let one = model.announcement(of: push.campaign), one.canary == nil, !rowsWereDeleted,
            // A device that had its turn by an older token gets the push by its new one in any wave that has begun.
            let device = push.device, model.ledgers[push.campaign]?[device] == nil
        else { return }
        var devices = ledger.waves[push.campaign, default: [:]][user, default: [:]]
        guard devices[push.token] == nil else { return }
        if devices.isEmpty { judgeShare(push, campaign, user, begun: one.askedAt) }
        devices[push.token] = campaign.wavesBegun
        ledger.waves[push.campaign, default: [:]][user] = devices
        // A device that has changed users since, or did so at the very moment, is of another wave.
        func isSteady(_ token: String) -> Bool {
            let states = model.devices["\(push.app)/\(token)"] ?? []
            guard let first = states.lastIndex(where: { $0.since < one.askedAt }) else { return false }
            return states[first...].allSatisfy { $0.isRegistered && $0.user == user }
        }
        guard devices.count > 1, isSteady(push.token),
            let other = devices.sorted(by: { $0.key < $1.key })
                .first(where: { $0.value != campaign.wavesBegun && isSteady($0.key) })
        else { return }
        model.broke(
            "wave.user",
            "\(push.token) of user \(user) is of wave \(campaign.wavesBegun) of campaign \(push.campaign), and his \(other.key) was of wave \(other.value)"
        )
    }

    /// A user gets the first push of a campaign: each wave holds its percentage of the users whom the campaign is for.
    ///
    /// A device that has changed in any way since the campaign was asked for may come in a later wave than its user's, and is not counted.
    private func judgeShare(_ push: SeenPush, _ campaign: ToldCampaign, _ user: Int, begun: Int64) {
        guard campaign.retries + campaign.reminders == 0, !ledger.wasPutBack else { return }
        func isMeant(_ name: String, _ state: DeviceState) -> Bool {
            state.isRegistered && !state.isTooOld && !model.everDead.contains(name)
                && state.version.map { $0 < campaign.version } ?? true
        }
        func state(_ states: [DeviceState]) -> DeviceState? { states.last { $0.since <= begun } }
        let name = "\(push.app)/\(push.token)"
        // A device that changed at the very moment may have been counted as it was, or as it is.
        guard let device = model.devices[name], let known = device.last(where: { $0.since < begun }),
            device.last == known, known.user == user, isMeant(name, known)
        else { return }
        var shares =
            ledger.shares[push.campaign]
            ?? WaveShares(
                ends: settings.waveEnds(push.app),
                users: users(of: push.app) { name, states in
                    state(states).flatMap { isMeant(name, $0) ? $0.user : nil }
                })
        if let fault = shares.pushes(inWave: campaign.wavesBegun) {
            model.broke("wave.share", "campaign \(push.campaign) in waves of \(shares.ends) %: \(fault)")
        }
        ledger.shares[push.campaign] = shares
    }

    /// Once, at the end.
    func judgeShares() {
        let all = ledger.shares.sorted { $0.key < $1.key }.map(\.value)
        if let fault = WaveShares.fault(in: all) { model.broke("wave.share", fault) }
    }

    /// The number of users of an app's devices.
    private func users(of app: Int, _ user: (String, [DeviceState]) -> Int?) -> Int {
        let own = model.devices.filter { $0.key.hasPrefix("\(app)/") }
        return Set(own.compactMap { user($0.key, $0.value) }).count
    }

    /// The pause between two waves is kept, unless a person has the next one begin.
    func judgePauses(of record: CampaignRecord, _ campaign: ToldCampaign) {
        // A wave without a push is over at once.
        guard !wasClockSet, campaign.waves > 0, campaign.emptyWaves == 0, record.figures.rounds.isEmpty else { return }
        let pause = Duration.seconds(60 * settings.setup["pause", campaign.app])
        for (wave, next) in zip(record.figures.waves.list, record.figures.waves.list.dropFirst()) {
            guard let end = wave.endedAt, let begin = next.begunAt, wave.releasedAt == nil, begin - end < pause else {
                continue
            }
            model.broke(
                "wave.pause",
                "wave \(next.number + 1) of campaign \(record.id) began \(begin - end) after the one before, and the pause is \(pause)"
            )
        }
    }
}
