// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing
import UpgradeRules

@Suite("The channels of a platform's devices")
struct ChannelTests {
    @Test("Stored values are those of the stores that knew of environments alone, and two more")
    func values() {
        let all: [(Channel, ProviderName, Channel.Environment, Platform, UInt8)] = [
            (.production, .apns, .production, .ios, 0), (.sandbox, .apns, .sandbox, .ios, 1),
            (.production, .fcm, .production, .android, 0), (.sandbox, .fcm, .sandbox, .android, 1),
            (Channel(rawValue: 2), .fcm, .production, .ios, 2), (Channel(rawValue: 3), .fcm, .sandbox, .ios, 3),
        ]
        for (channel, provider, environment, platform, value) in all {
            #expect(Channel(provider, environment, on: platform) == channel)
            #expect(channel.rawValue == value)
            #expect(channel.provider(on: platform) == provider && channel.environment == environment)
            #expect(channel.other.provider(on: platform) == provider && channel.other.environment != environment)
            #expect(channel.other.other == channel)
        }
        #expect(Channel.allCases.map(\.rawValue) == [0, 1, 2, 3] && Channel.allCases == Channel.allCases.sorted())
    }

    @Test("Each channel of a platform has a label of its own, and the platform's own provider the names it always had")
    func labels() {
        #expect(Channel.allCases.map { $0.label(on: .ios) } == ["production", "sandbox", "fcm", "fcm-sandbox"])
        #expect([Channel.production, .sandbox].map { $0.label(on: .android) } == ["production", "sandbox"])
        #expect(Channel.allCases.map { $0.title(on: .ios) } == ["APNs", "APNs sandbox", "FCM", "FCM sandbox"])
        #expect(Channel.production.title(on: .android) == "FCM")
        for channel in Channel.allCases { #expect(Channel(label: channel.label(on: .ios), on: .ios) == channel) }
        #expect(Channel(label: "huawei", on: .ios) == nil)
    }

    @Test(
        "A token's form says whose it is",
        arguments: [
            ("80012ab4", Platform.ios, ProviderName.apns), ("80012AB4", .ios, .apns), ("", .ios, .apns),
            ("fGw0qy4TQfmXabc:APA91bH-_x", .ios, .fcm), ("fid:cX0", .ios, .fcm), ("80012ab4", .android, .fcm),
            ("fGw0:APA91b", .android, .fcm),
        ])
    func forms(token: String, platform: Platform, provider: ProviderName) {
        #expect(ProviderName.of(token: token, on: platform) == provider)
    }
}
