// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import Signing
import TestPeers
import Testing

/// The operator's text when a campaign is suspended: the fault, the app, the field, and what to do.
@Suite struct APNsRemedyTests {
    private let place = SendingPlace(
        app: "com.example.app", section: #"apps["com.example.app"].ios"#, server: "https://api.push.apple.com",
        campaign: "3f9c2ab81d04", now: Timestamp(seconds: 1_800_000_000))

    private func text(_ fault: SendingFault, _ reason: String, refused: (Int, Int)? = nil) throws -> String {
        let key = try ES256PrivateKey.generate()
        let provider = APNsProvider(
            settings: .init(topic: "com.example.app", priority: 10),
            tokens: APNsTokenSource(teamID: "TEAM123456", keyID: "KEY1234567", key: key))
        return provider.explain(fault, reason: reason, refused: refused.map { (pushes: $0.0, of: $0.1) }, place)
    }

    private static func then(_ command: String) -> String {
        " Then: systemctl \(command) upgrade-relay && upgrade-relay campaigns resume 3f9c2ab81d04"
    }

    /// Faults that are corrected in the configuration: a reload is enough (FAULTS 3.10).
    private static let ofConfiguration: Set<SendingFault> = [
        .noCredential, .certificate, .topic, .request, .answer, .mostlyRefused,
    ]

    static let texts: [(SendingFault, reason: String, text: String)] = [
        (
            .credential, "InvalidProviderToken",
            #"APNs does not accept the provider token of com.example.app. Check apps["com.example.app"].ios.apns: "#
                + "key, keyId (KEY1234567) and teamId (TEAM123456) must belong together and the key must not be revoked; "
                + "and this machine's clock, which says 2027-01-15T08:00:00.000Z, must be right."
        ),
        (
            .noCredential, "MissingProviderToken",
            "APNs saw no provider token in the pushes of com.example.app, although each carries one. Check "
                + #"apps["com.example.app"].ios.apns.server and apps["com.example.app"].ios.apns.proxy: something on the "#
                + "way to https://api.push.apple.com takes it out."
        ),
        (
            .certificate, "BadCertificate",
            "APNs judges a client certificate for com.example.app, and this relay uses none. Check "
                + #"apps["com.example.app"].ios.apns.server and apps["com.example.app"].ios.apns.proxy: something on the "#
                + "way to https://api.push.apple.com presents one."
        ),
        (
            .forbidden, "Forbidden",
            #"APNs forbids the key of com.example.app to push. Check apps["com.example.app"].ios.apns.keyId "#
                + "(KEY1234567): at developer.apple.com, Keys, it must have the Apple Push Notifications service enabled "
                + "for the topic com.example.app, and a topic-specific key must list that topic."
        ),
        (
            .keyEnvironment, "BadEnvironmentKeyIdInToken",
            "the key of com.example.app is not for this environment of APNs, https://api.push.apple.com. Check "
                + #"apps["com.example.app"].ios.apns: keyId (KEY1234567) and key of a key for that environment (a "#
                + "key that is for one environment only goes to apns, the one for the other to apns.sandboxKey), or server "
                + "and sandboxServer, if it is the wrong one."
        ),
        (
            .unrelatedKey, "UnrelatedKeyIdInToken",
            "APNs takes the key of com.example.app for one of another family, on new connections too. Check "
                + #"apps["com.example.app"].ios.apns: keyId (KEY1234567), key and teamId (TEAM123456) must be those of "#
                + "topic com.example.app; a topic-specific key goes with keys of its own family alone."
        ),
        (
            .topic, "TopicDisallowed",
            "APNs does not accept the topic com.example.app of com.example.app. Check "
                + #"apps["com.example.app"].ios.apns.topic: it must be the app's bundle id, and the key KEY1234567 of team "#
                + "TEAM123456 must be allowed to push to it; a topic-specific key must list it (developer.apple.com, Keys)."
        ),
        (
            .request, "BadPriority",
            #"APNs finds the pushes of com.example.app malformed. Check apps["com.example.app"].ios.push and "#
                + #"apps["com.example.app"].ios.apns.topic."#
        ),
        (
            .answer, "HTTP 301",
            "what answers for com.example.app at https://api.push.apple.com is not APNs. Check "
                + #"apps["com.example.app"].ios.apns.server and apps["com.example.app"].ios.apns.proxy."#
        ),
        (
            .unknown, "SomethingNew",
            #"APNs refuses the credential of com.example.app. Check apps["com.example.app"].ios.apns: keyId (KEY1234567), "#
                + #"teamId (TEAM123456), topic (com.example.app); Apple's page "Handling notification responses from "#
                + #"APNs" explains the reason."#
        ),
    ]

    @Test(arguments: texts)
    func eachFaultIsToldInFull(fault: SendingFault, reason: String, text: String) throws {
        let command = Self.ofConfiguration.contains(fault) ? "reload" : "restart"
        #expect(try self.text(fault, reason) == "\(reason): \(text)\(Self.then(command))")
    }

    @Test func aKeyThatIsAFileIsTakenUpByAReload() throws {
        var place = place
        place.secretsNeedRestart = false
        let provider = APNsProvider(
            settings: .init(topic: "com.example.app", priority: 10),
            tokens: APNsTokenSource(
                teamID: "TEAM123456", keyID: "KEY1234567", key: try ES256PrivateKey.generate()))
        let text = provider.explain(.credential, reason: "InvalidProviderToken", refused: nil, place)
        #expect(text.hasSuffix(Self.then("reload")), "\(text)")
    }

    @Test func aWrongClockNeedsNoReload() throws {
        #expect(
            try text(.clock, "ExpiredProviderToken")
                == "ExpiredProviderToken: APNs calls a fresh provider token of com.example.app expired, so this machine's "
                + "clock is wrong. Check the clock, which says 2027-01-15T08:00:00.000Z (timedatectl); no new token is "
                + "signed before that. Then: upgrade-relay campaigns resume 3f9c2ab81d04")
    }

    @Test(arguments: [
        (
            reason: "BadDeviceToken",
            text: "these tokens are not of this environment of APNs, or not of this app. Check "
                + #"apps["com.example.app"].ios.apns.server, and the environment that the devices were registered with "#
                + "(upgrade-relay devices export); no token was given up."
        ),
        (
            "DeviceTokenNotForTopic",
            "these tokens are of another app than the topic com.example.app. Check "
                + #"apps["com.example.app"].ios.apns.topic, and under which app the devices were registered; no token was "#
                + "given up."
        ),
    ])
    func refusalsFromTheStartAreCounted(reason: String, text: String) throws {
        #expect(
            try self.text(.mostlyRefused, reason, refused: (19, 20))
                == "\(reason): 19 of the first 20 pushes of com.example.app were refused by https://api.push.apple.com: "
                + text + Self.then("reload"))
    }

    // MARK: A key of the sandbox's own, a certificate

    @Test func theSandboxsKeyIsNamedWhereItStands() throws {
        let provider = APNsProvider(
            settings: .init(topic: "com.example.app", priority: 10),
            credential: .key(
                APNsTokenSource(
                    teamID: "TEAM123456", keyID: "KEY1234567", key: try ES256PrivateKey.generate()), of: .sandbox))
        let text = provider.explain(.credential, reason: "InvalidProviderToken", refused: nil, place)
        #expect(text.contains(#"Check apps["com.example.app"].ios.apns.sandboxKey: key, keyId (KEY1234567)"#))
    }

    private static let certificateTexts: [(SendingFault, reason: String, text: String)] = [
        (
            .certificate, "BadCertificate",
            "APNs does not accept the certificate of com.example.app, \"Apple Push Services: com.example.app\". Check "
                + #"apps["com.example.app"].ios.apns.certificate: it ends at "#
        ),
        (
            .certificate, "BadCertificateEnvironment",
            "APNs says that the certificate of com.example.app, \"Apple Push Services: com.example.app\", is not for this "
                + #"environment, https://api.push.apple.com. Check apps["com.example.app"].ios.apns.certificate, which is for "#
                + "production and sandbox, and "
        ),
        (
            .noCredential, "MissingProviderToken",
            "APNs saw neither a certificate nor a provider token of com.example.app, although the connection shows one. Check "
        ),
        (
            .topic, "TopicDisallowed",
            "APNs does not accept the topic com.example.app of com.example.app. Check "
                + #"apps["com.example.app"].ios.apns.topic: it must be the app's bundle id, and one of the certificate's, "#
                + "which are com.example.app."
        ),
        (
            .certificateExpired, "CertificateExpired",
            "the certificate of com.example.app, \"Apple Push Services: com.example.app\", ended at "
        ),
        (
            .certificateNotYetValid, "CertificateNotYetValid",
            "the certificate of com.example.app, \"Apple Push Services: com.example.app\", begins at "
        ),
        (
            .certificateWorld, "CertificateEnvironment",
            "the certificate of com.example.app, \"Apple Push Services: com.example.app\", is for production and sandbox, not "
                + "for production, whose devices wait. Check "
        ),
        (
            .unknown, "SomethingNew",
            "APNs refuses the certificate of com.example.app, \"Apple Push Services: com.example.app\". Check "
        ),
        (.forbidden, "Forbidden", "APNs refuses the certificate of com.example.app"),
    ]

    @Test(arguments: certificateTexts)
    func whereACertificateIsShownTheWordsAreAboutIt(fault: SendingFault, reason: String, text: String) throws {
        let files = try PushCertificateFiles()
        let provider = APNsProvider(
            settings: .init(topic: "com.example.app", priority: 10),
            credential: .certificate(try files.read(try files.issue()), in: .production))
        let told = provider.explain(fault, reason: reason, refused: nil, place)
        #expect(told.hasPrefix("\(reason): \(text)"), "\(told)")
        let isOfConfiguration = ["MissingProviderToken", "TopicDisallowed"].contains(reason)
        #expect(told.hasSuffix(Self.then(isOfConfiguration ? "reload" : "restart")))
        #expect(!told.contains("KEY") && !told.contains("keyId"))
        #expect(SuspensionReason.isOfCredential(told) == (reason != "SomethingNew"))
    }
}
