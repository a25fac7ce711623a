// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

extension ConformanceCase {
    /// A platform may have two providers: each channel has its own work.
    static let providers: [ConformanceCase] = [
        ConformanceCase("a device's channel is that of its token and its environment") { subject in
            try subject.registerOfBoth(8)
            for number in 0..<8 {
                let registration = try present(
                    try subject.store.device(subject.app, token: subject.anyToken(number)), "device \(number)"
                ).registration
                try same(registration.channel, Subject.channel(number))
                try same(registration.token, subject.anyToken(number), "the case of FCM's letters matters")
            }
            // The environment changes, and the provider stays.
            try subject.registerOfBoth(8) { _ in .sandbox }
            for number in 0..<8 {
                let registration = try subject.store.device(subject.app, token: subject.anyToken(number))?.registration
                try same(registration?.channel.rawValue, Subject.channel(number).rawValue | 1)
            }
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("a campaign goes over all channels, and each has its shards and retries") { subject in
            for waves in [nil, WavePlan(ends: [3_000, 10_000])] {
                let app = AppKey(app: "of-\(waves?.count ?? 0)", platform: .ios)
                try subject.registerOfBoth(120, app: app)
                let campaign = try subject.announce(app: app)
                try subject.store.planShards(campaign.key, shardSize: 10, waves: waves, at: subject.now)
                try same(try subject.store.channels(of: campaign.key), Set(Channel.allCases))
                let draw = waves.map { WaveDraw($0, requirement: campaign.requirement.id) }
                if waves == nil {
                    for channel in Channel.allCases {
                        let shards = try subject.open(campaign.key, channel: channel)
                        let rows = try shards.flatMap { try subject.read($0).rows }
                        try check(rows.count == 30 && rows.allSatisfy { $0.channel == channel }, "\(channel)")
                    }
                }
                // Devices move between the environments of their provider on the way.
                var step = 0
                let turns = try subject.sendAll(campaign, in: draw) {
                    step += 1
                    try subject.registerOfBoth(120, app: app) { ($0 + step) % 5 == 0 ? .sandbox : .production }
                }
                try same(turns.count, 120)
                try check(turns.values.allSatisfy { $0 == 1 }, "each once")
                let end = try subject.record(campaign.key)
                try same([end.figures.counts.accepted, end.figures.counts.retrying], [120, 0])
                try same(end.state, .completed)
                try same(Set(try subject.pages(campaign).map(\.device)).count, 120)
                try same(try subject.store.check { _ in true }, [], "faults")
            }
        },
        ConformanceCase("a campaign that was never cut is counted once over all channels, and goes on") { subject in
            try subject.registerOfBoth(40)
            let first = try subject.announce()
            let second = try subject.announce("3.0")
            try same(try subject.counts(first.key).cancelled, 40)
            let list = try subject.pages(first)
            try same(Set(list.map(\.device)).count, 40)
            try same(list.count, 40)
            _ = try subject.store.move(second.key, .cancelled, at: subject.now)
            try same(try subject.counts(second.key).cancelled, 40)
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("what is said against a channel's tokens is its own") { subject in
            try subject.registerOfBoth(8)
            let campaign = try subject.announce()
            let fcm = Channel(.fcm, on: .ios)
            var commit = subject.retry(campaign.key, [])
            commit.doubts = [TokenDoubt(fcm, .dead, JudgedAnswers(isSuspect: true))]
            try subject.commit([commit], at: subject.now)
            for channel in Channel.allCases {
                try same(
                    try subject.store.tokenDoubts(of: subject.app, channel: channel).count, channel == fcm ? 1 : 0)
            }
        },
    ]
}

extension Subject {
    /// Each fourth device has another channel.
    static func channel(_ number: Int) -> Channel { Channel(rawValue: UInt8(number % 4)) }

    /// A token of APNs, or of FCM.
    func anyToken(_ number: Int) -> String {
        Self.channel(number).isBeside ? "cX\(number)_-Abc:APA91bH\(number)" : token(number)
    }

    /// Registers devices 0..<count, in each channel as many.
    ///
    /// - Parameter environment: default that of the device's channel.
    func registerOfBoth(
        _ count: Int, app other: AppKey? = nil, environment: ((Int) -> Channel.Environment)? = nil
    ) throws {
        try store.register(
            (0..<count).map { number in
                var device = registration(number, telephone: "138\(number)", app: other)
                device.token = anyToken(number)
                device.environment = environment?(number) ?? Self.channel(number).environment
                return device
            }, at: now)
    }
}
