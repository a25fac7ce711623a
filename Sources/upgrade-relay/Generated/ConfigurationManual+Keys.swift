// SPDX-License-Identifier: Apache-2.0

/// What each key is for. What it may hold and its default stand in no text here: the reader knows them.
extension ConfigurationManual {
    struct Section: Sendable {
        var name: String
        var text: String
        /// By the general path: `apps.APP.PLATFORM.push.type`.
        var keys: [(path: String, text: String)]

        init(_ name: String, _ text: String, _ keys: [(path: String, text: String)]) {
            self.name = name
            self.text = text
            self.keys = keys
        }
    }

    static let description = [
        "JSON5: JSON with comments, trailing commas and keys without quotes. The file is the one that *--config* names, else "
            + "*UPGRADE_RELAY_CONFIG* in the environment, else the one above. Everything has a default but what only its "
            + "owner can know; *null* is as good as leaving a key out, but for *apns*.",
        "*upgrade-relay check-config* names every fault with its field, what it held and what would be right, and looks at "
            + "every file that is named. SIGHUP (*systemctl reload upgrade-relay*) takes a changed file at once; *store*, "
            + "*listen* (but for a renewed certificate) and *fanOut* need a restart, and the log says so. A file that does "
            + "not validate changes nothing.",
        "A duration is text: whole numbers with d, h, m, s or ms, the largest unit first, such as \"7d\" or \"1h30m\".",
    ]

    static let secrets = [
        "A secret never stands in the file, only its place, which is one of: { *file*: \"/path\" }, a file; { *credential*: "
            + "\"name\" }, a systemd credential, which *LoadCredential=* in the service's unit provides; { *environment*: "
            + "\"NAME\" }, an environment variable. A line end at its end does not count.",
        "Secrets are read at the start and at each reload.",
    ]

    static let sections =
        [storeSection, listenSection, peersSection, fanOutSection, appsSection, apnsSection]
        + [sourcesSection]

    private static let storeSection = Section(
        "store", "Where everything is kept.",
        [
            ("store.sqlite.path", "The SQLite file. Its log lies beside it, so the directory must be writable too."),
            (
                "store.keep",
                "How long the deliveries of campaigns that ended are kept, and with them webhook ids, ended alerts, "
                    + "notifications, and devices that are removed or dead. Campaigns stay, with their counts. null (the "
                    + "default) keeps everything, and the store grows with every campaign."
            ),
        ])

    private static let listenSection = Section(
        "listen", "The doors of the daemon. Under systemd the socket units open them, and their addresses hold.",
        [
            ("listen.address", "Where the HTTP API listens: an IP address and a port, \"[::1]:8480\" for IPv6."),
            (
                "listen.tls.certificate",
                "A PEM file with the server's certificate first, then its chain. Without *listen.tls* (the default, null) it "
                    + "is plain HTTP, for this machine or behind a reverse proxy. TLS 1.2 and 1.3 are spoken. A reload takes "
                    + "a renewed pair; one that does not fit or has expired changes nothing."
            ),
            ("listen.tls.key", "The certificate's private key in PEM."),
            (
                "listen.controlSocket",
                "What the commands talk to. Root, the relay's own user and the group below have an operator's rights there."
            ),
            (
                "listen.controlSocketGroup",
                "A group of this system that is let in too (mode 0660); the relay's user must be in it. None by default."
            ),
            (
                "listen.checkTrust",
                "Whose word is taken for a device's version at /v1/check: of whoever names its push token, or only of callers "
                    + "with an API token of the scope devices."
            ),
            (
                "listen.limits.connections",
                "Connections at a time. Beyond, the longest idle ones are closed; where none is idle, new ones are. At most "
                    + "the hard limit on open files less 512."
            ),
            (
                "listen.limits.connectionsPerAddress",
                "The same from one address, of IPv6 from one /64. Left out it is half of *connections*."
            ),
            ("listen.limits.idleTime", "How long a connection may be open without a complete request line."),
            (
                "listen.limits.requestTime",
                "From the request line to the body's last byte, then again for the answer to be taken; of an import or an "
                    + "export for each piece of 128 KiB."
            ),
            (
                "listen.limits.body",
                "Bytes of a body; more is answered with 413. Webhooks take 64 KiB, imports as much as comes."
            ),
            ("listen.limits.head", "Bytes of a whole head; more is answered with 431."),
            ("listen.limits.target", "Bytes of a request line's target; more is answered with 414."),
            ("listen.limits.threads", "Threads that read and write sockets. They never wait for the disk."),
        ])

    private static let peersSection = Section(
        "webhooks, notify, log", "Who may tell, and who is told.",
        [
            (
                "webhooks.secrets",
                "Secrets of those who may announce versions by webhook. Any of them may verify, so that one can be changed "
                    + "without a gap. With none, every webhook is refused."
            ),
            ("webhooks.secrets[]", "\"whsec_\" and base64 of 24 to 64 bytes, or any bytes that both sides know."),
            (
                "notify",
                "Who gets a POST when a campaign's state changes, signed as Standard Webhooks says; sixteen at most. 2xx takes "
                    + "it, what fails is tried ten times in three days, 410 means never again: such a receiver is told again "
                    + "only after a reload without it and one with it."
            ),
            ("notify[].url", "https; http for this machine only."),
            ("notify[].secret", "What it is signed with: \"whsec_\" and base64 of 24 to 64 bytes."),
            (
                "notify[].events",
                "campaign.waiting, campaign.running, campaign.paused, campaign.suspended, campaign.completed, "
                    + "campaign.cancelled, campaign.superseded. Left out it is all of them."
            ),
            ("notify[].trustedCertificates", "A PEM file of certificates to trust instead of the system's."),
            (
                "log.level",
                "The least that a line must matter to be written. *upgrade-relay log level* changes it until the next reload. "
                    + "debug tells every request; no level tells every push."
            ),
        ])

    private static let fanOutSection = Section(
        "fanOut", "How a campaign's audience is cut and spread.",
        [
            ("fanOut.lanes", "Threads that each drive connections of their own."),
            (
                "fanOut.batch",
                "Devices that are read, sent and recorded together. After a crash at most the batches in flight are sent "
                    + "again: for each campaign 16 of them, and beyond that as many devices as its connections have "
                    + "streams, which is 32,000 for all campaigns together at most."
            ),
            ("fanOut.shardSize", "Devices of one shard, the unit that can be worked on side by side."),
        ])

    private static let appsSection = Section(
        "apps",
        "One entry for each app, by the name that the API and the commands use, usually the bundle id: *APP* below. In it *ios*, "
            + "*android* or both: *PLATFORM* below.",
        [
            ("apps.APP.PLATFORM.downloadUrl", "Where users get the new version. A bump may bring its own."),
            (
                "apps.APP.PLATFORM.forcePolicy",
                "Which number's rise forces an upgrade, where a bump says what is latest but not what is required: none; the "
                    + "first; the first or the second; one of three."
            ),
            ("apps.APP.PLATFORM.push.type", "The page.type of the payload, which the app's code looks for."),
            ("apps.APP.PLATFORM.push.alert", "What the phone shows where a bump brings no message."),
            (
                "apps.APP.PLATFORM.push.priority",
                "10: at once. 5: as the phone's battery allows. 1: never wakes the phone."
            ),
            (
                "apps.APP.PLATFORM.push.timeToLive",
                "From the rise of the required version until nothing is sent any more, and how long APNs keeps the push for a "
                    + "phone that is off."
            ),
            (
                "apps.APP.PLATFORM.push.sound",
                "The name of a sound in the app's bundle, or \"default\". None by default."
            ),
            (
                "apps.APP.PLATFORM.pace.ratePerSecond",
                "Pushes a second at most, retries included, evenly spread: in no second more than this, a tenth of it and one "
                    + "push. As fast as they go by default. A reload takes it at once."
            ),
            (
                "apps.APP.PLATFORM.pace.rampUp.from",
                "The percentage of the rate to begin with, each time that a campaign or a wave begins and a campaign goes on."
            ),
            ("apps.APP.PLATFORM.pace.rampUp.over", "How long until the whole rate is reached, evenly."),
            (
                "apps.APP.PLATFORM.pace.waves",
                "Percentages of the audience that get the push one after the other, each with those before it, the last 100. "
                    + "Who comes when is drawn by token, anew in each campaign. The whole audience at once by default."
            ),
            (
                "apps.APP.PLATFORM.pace.betweenWaves.pause",
                "From the last push of a wave to the first of the next; \"0\" by default where approval is asked for. A part "
                    + "of push.timeToLive."
            ),
            (
                "apps.APP.PLATFORM.pace.betweenWaves.approval",
                "Whether the campaign is suspended after each wave but the last, until it is resumed."
            ),
            (
                "apps.APP.PLATFORM.pace.betweenWaves.maxFailedPercent",
                "The campaign is suspended where more of a wave's pushes were not taken at the end of the pause: rejected, "
                    + "unregistered, expired, or still to be tried again. Not looked at by default."
            ),
            (
                "apps.APP.PLATFORM.webhooks.tagPattern",
                "A regular expression for the tag of a release that GitHub or GitLab announces; its one capture group is the "
                    + "version. Other tags are ignored."
            ),
            ("apps.APP.PLATFORM.webhooks.prereleases", "Whether GitHub's prereleases count."),
            (
                "apps.APP.PLATFORM.webhooks.sets",
                "latest: a release raises the latest version, and the required one only as *forcePolicy* says. required: every "
                    + "release forces."
            ),
            (
                "apps.APP.PLATFORM.holdHours",
                "With an App Store source: hours from the release in the store until users are told, because not everybody can "
                    + "download it at once. 0: at once. 168 where Apple's phased release is used."
            ),
        ])

    private static let apnsSection = Section(
        "apns",
        "How to push to an iOS app. null for one that only asks at login or reads the LaunchGate document. Android has none.",
        [
            ("apps.APP.PLATFORM.apns.teamId", "The ten characters of the developer team, from Apple's developer site."),
            ("apps.APP.PLATFORM.apns.keyId", "The ten characters of the signing key."),
            ("apps.APP.PLATFORM.apns.key", "The .p8 file that Apple gave."),
            ("apps.APP.PLATFORM.apns.topic", "The bundle id. Left out it is the app's name."),
            (
                "apps.APP.PLATFORM.apns.server",
                "A server of one's own, such as \"https://127.0.0.1:2197\" for *upgrade-relay simulate-apns*. Left out it is "
                    + "Apple's."
            ),
            (
                "apps.APP.PLATFORM.apns.sandboxServer",
                "The same for devices of the sandbox. It follows *server* where only that is given."
            ),
            (
                "apps.APP.PLATFORM.apns.tryOtherEnvironment",
                "Whether a token that its environment calls bad is tried once in the other one; where that takes it, the "
                    + "device's environment is corrected. The key must be good for both."
            ),
            (
                "apps.APP.PLATFORM.apns.trustedCertificates",
                "A PEM file of certificates to trust instead of the system's."
            ),
            (
                "apps.APP.PLATFORM.apns.proxy",
                "An HTTP or SOCKS proxy to go through, such as \"http://proxy.example:3128\". None by default."
            ),
            (
                "apps.APP.PLATFORM.apns.connections",
                "Connections at most, for each lane and server. One while it suffices; more are opened while every stream is "
                    + "taken and each step brings a higher rate, which hides the service's latency. Those that brought "
                    + "nothing are closed at once, those that nobody needed for ten minutes then."
            ),
        ])

    private static let sourcesSection = Section(
        "sources",
        "Where versions are looked up; iOS only. Each entry is { *appStore*: { ... } }, of which an app has one at most, or { "
            + "*launchGate*: { ... } }.",
        [
            ("apps.APP.PLATFORM.sources", "Nowhere by default."),
            (
                "apps.APP.PLATFORM.sources[].appStore.id",
                "The app's number in the App Store. The store's answer raises what is latest, never by itself what is "
                    + "required; and a campaign waits until the store offers a version that meets it. Where *bundleId* is "
                    + "given too, both are asked and the newer is believed."
            ),
            ("apps.APP.PLATFORM.sources[].appStore.bundleId", "The app's bundle id in the App Store."),
            (
                "apps.APP.PLATFORM.sources[].appStore.country",
                "Two letters of the store's country, such as \"cn\". Left out it is the United States."
            ),
            (
                "apps.APP.PLATFORM.sources[].appStore.every",
                "How often. A server of one's own may be asked each second."
            ),
            (
                "apps.APP.PLATFORM.sources[].appStore.lookupServer",
                "A stand-in for Apple's lookup, for tests: https, or http for this machine."
            ),
            (
                "apps.APP.PLATFORM.sources[].launchGate.file",
                "A LaunchGate document: minimumVersion of its ios is required, optionalVersion is latest. Read whenever it "
                    + "changes. Either this or *url*."
            ),
            (
                "apps.APP.PLATFORM.sources[].launchGate.url",
                "The same from elsewhere: https, or http for this machine. Faults show it to everybody at /readyz, all but its "
                    + "query: a signature or a key goes there. A user before the host is refused."
            ),
            ("apps.APP.PLATFORM.sources[].launchGate.every", "How often the *url* is asked."),
        ])
}
