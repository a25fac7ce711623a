// SPDX-License-Identifier: Apache-2.0

/// What each key is for. What it may hold and its default stand in no text here: the reader knows them.
extension ConfigurationManual {
    struct Section: Sendable {
        var name: String
        var text = ""
        /// By the general path: `apps.APP.PLATFORM.push.type`.
        var keys: [(path: String, text: String)] = []
    }

    static let description = [
        "JSON5: JSON with comments, trailing commas and keys without quotes. The file is the one that *--config* names, else "
            + "*UPGRADE_RELAY_CONFIG* in the environment, else the one above. Every key has a default, except "
            + "those that only you can know. *null* means the same as leaving a key out, except for *apns*.",
        "*upgrade-relay check-config* names every error with its field, its value and what would be right, and checks "
            + "every file that is named. SIGHUP (*systemctl reload upgrade-relay*) applies a changed file at once. Changes of "
            + "*store*, *listen* (except a renewed certificate), *fanOut* and *enforce.headers* need a restart, and the log "
            + "says so. A file that is not valid changes nothing.",
        "A duration is text: whole numbers with d, h, m, s or ms, the largest unit first, such as \"7d\" or \"1h30m\".",
    ]

    static let secrets = [
        "A secret is never written in the file, only its place, which is one of: { *file*: \"/path\" }, a file; { *credential*: "
            + "\"name\" }, a systemd credential, which *LoadCredential=* in the service's unit provides; { *environment*: "
            + "\"NAME\" }, an environment variable. A line break at its end is ignored.",
        "Secrets are read at the start and at each reload.",
    ]

    static let sections: [Section] = document.split(separator: "\n").reduce(into: []) { sections, line in
        let last = sections.endIndex - 1
        if line.hasPrefix("# ") {
            sections.append(Section(name: String(line.dropFirst(2))))
        } else if !line.hasPrefix(" ") {
            sections[last].keys.append((String(line), ""))
        } else if sections[last].keys.isEmpty {
            sections[last].text += line
        } else {
            sections[last].keys[sections[last].keys.endIndex - 1].text += line
        }
    }

    /// A section's name after "# ", a key by itself, and indented below each of them what it is for.
    private static let document = """
        # store
            Where everything is kept.
        store.sqlite.path
            The SQLite file. Its log lies beside it, so the directory must be writable too.
        store.keep
            How long to keep the deliveries of campaigns that ended, webhook ids, ended alerts, notifications, and
            devices that are removed or dead. Campaigns stay, with their counts. null (the default) keeps everything,
            and the store grows with every campaign.

        # listen
            Listeners: the HTTP API and the control socket. Under systemd the socket units open the sockets, and
            their addresses are used.
        listen.address
            Where the HTTP API listens: an IP address and a port, "[::1]:8480" for IPv6.
        listen.tls.certificate
            A PEM file with the server's certificate first, then its chain. Without *listen.tls* (the default, null)
            it is plain HTTP, for this machine or behind a reverse proxy. TLS 1.2 and 1.3 are supported. A reload
            takes a renewed pair; one that does not match or has expired changes nothing.
        listen.tls.key
            The certificate's private key in PEM.
        listen.controlSocket
            The socket that the commands use. Root, the relay's own user and the group below may do everything there.
        listen.controlSocketGroup
            A group of this system that may use the control socket too (mode 0660); the relay's user must be a member.
            None by default.
        listen.checkTrust
            Who may update a device's version by /v1/check: whoever names the device's push token, or only callers
            with an API token of the scope devices.
        listen.limits.connections
            Connections at a time. Above that, those that have been idle longest are closed; if none is idle, the new
            one is. At most the hard limit on open files minus 512.
        listen.limits.connectionsPerAddress
            The same for one address, for IPv6 one /64. By default half of *connections*.
        listen.limits.idleTime
            How long a connection may be open without a complete request line.
        listen.limits.requestTime
            Time from the request line to the last byte of the body, then the same again until the client has read the
            answer; for an import or an export it applies to each piece of 128 KiB.
        listen.limits.body
            Bytes of a body; more is answered with 413. A webhook may have 64 KiB, an import has no limit.
        listen.limits.head
            Bytes of the whole head; more is answered with 431.
        listen.limits.target
            Bytes of the request target; more is answered with 414.
        listen.limits.threads
            Threads that read and write sockets. They never wait for the disk.

        # webhooks, notify, log
            Incoming webhooks, outgoing webhooks, and the log.
        webhooks.secrets
            Secrets that version webhooks are signed with. A webhook is accepted if any of them verifies it, so that
            one can be changed without a gap. Without one, every webhook is refused.
        webhooks.secrets[]
            "whsec_" and base64 of 24 to 64 bytes, or any bytes that both sides have.
        webhooks.secrets[].apps
            The apps whose webhooks this secret verifies, such as those of one team. By default all.
        notify
            Receivers of a POST when a campaign's state changes, signed as Standard Webhooks says; sixteen at most.
            2xx accepts it, anything else is tried again, ten times in three days. 410 switches the receiver off,
            until it is removed, reloaded, added again and reloaded.
        notify[].url
            https; http for this machine only.
        notify[].secret
            The secret that notifications are signed with: "whsec_" and base64 of 24 to 64 bytes.
        notify[].events
            campaign.waiting, campaign.running, campaign.paused, campaign.suspended, campaign.completed,
            campaign.cancelled, campaign.superseded. By default all of them.
        notify[].trustedCertificates
            A PEM file of certificates to trust instead of the system's.
        log.level
            The lowest level that is written. *upgrade-relay log level* changes it until the next reload. debug logs
            every request; no level logs every push.

        # enforce
            What reverse proxies ask before they pass a request on, at /v1/enforce: whether this version of the app may
            go on. App, platform and version are taken from the query, else from these headers, else from the
            User-Agent.
        enforce.headers.app
            The header that names the app.
        enforce.headers.platform
            The header that names the platform: ios or android.
        enforce.headers.version
            The header with the installed version.
        enforce.userAgents
            Apps that are known by their User-Agent where neither query nor headers say enough: { *pattern*: "...",
            *app*: "...", *platform*: "..." }. The first one that matches counts. None by default.
        enforce.userAgents[].pattern
            The whole header: literal text with one {version}, which stands for digits and dots, and an asterisk for any
            text.
        enforce.userAgents[].app
            One of the *apps*.
        enforce.userAgents[].platform
            ios or android.
        enforce.unknown
            What becomes of a request whose app is not configured, or whose version is missing or no version: it may go
            on, or it is denied like one that must be upgraded.

        # fanOut
            How a campaign's audience is divided.
        fanOut.lanes
            Threads, each with its own connections to the push services.
        fanOut.batch
            Devices that are read, sent and recorded together. After a crash, at most the batches in flight are sent
            again: 16 for each campaign, plus as many devices as its connections have streams, at most 32,000 for all
            campaigns together.
        fanOut.shardSize
            Devices of one shard. Different shards of a campaign are worked on at the same time.

        # apps
            One entry for each app, by the name that the API and the commands use, usually the bundle id: *APP* below.
            In it *ios*, *android* or both: *PLATFORM* below.
        apps.APP.PLATFORM.downloadUrl
            Where users get the new version: an https URL, or one of *downloadSchemes*. A bump may name another, for that
            bump alone.
        apps.APP.PLATFORM.downloadSchemes
            What download URLs may begin with beside https, such as "itms-apps" or "market". Nothing else by default.
            http, ftp, javascript, data and file are never allowed.
        apps.APP.PLATFORM.forcePolicy
            Which number's rise forces an upgrade, for bumps that name the latest version but not the required one:
            none; the first; the first or the second; any of the three.
        apps.APP.PLATFORM.push.type
            The page.type of the payload, which the app's code looks for.
        apps.APP.PLATFORM.push.alert
            What the phone shows if the bump has no message.
        apps.APP.PLATFORM.push.priority
            10 is delivered at once, 5 when the phone's battery allows it, and 1 never wakes the phone.
        apps.APP.PLATFORM.push.timeToLive
            How long after the rise of the required version pushes are sent, and how long APNs keeps one for a phone
            that is off.
        apps.APP.PLATFORM.push.sound
            The name of a sound in the app's bundle, or "default". None by default.
        apps.APP.PLATFORM.push.remind
            When those who are still behind get the same push again, with the same apns-id: up to five durations from
            the campaign's start, ascending, each at least 1h. Only while the version is the required one. Off by
            default.
        apps.APP.PLATFORM.pace.ratePerSecond
            Pushes per second at most, retries included, evenly spread. No second ever has more than this number plus
            a tenth of it plus one push. By default there is no limit. A reload applies it at once.
        apps.APP.PLATFORM.pace.rampUp.from
            The percentage of the rate to begin with, each time that a campaign or a wave begins or a campaign
            continues.
        apps.APP.PLATFORM.pace.rampUp.over
            How long until the whole rate is reached. It grows evenly.
        apps.APP.PLATFORM.pace.waves
            Percentages of the users, each including those before it, the last one 100, that a requirement reaches one
            after the other. Who is in a wave is drawn by phone number, anew for each requirement. The login check forces
            those whose wave has begun. By default everybody at once.
        apps.APP.PLATFORM.pace.betweenWaves.pause
            Time from the last push of a wave to the first of the next. With approval the default is "0". push.timeToLive
            counts anew with each wave.
        apps.APP.PLATFORM.pace.betweenWaves.approval
            Whether the campaign is suspended after each wave except the last, until it is resumed.
        apps.APP.PLATFORM.pace.betweenWaves.maxFailedPercent
            The campaign is suspended if, at the end of the pause, more than this percentage of the wave's pushes has
            not been accepted: rejected, unregistered, expired, or waiting for a retry. By default this is not
            checked.
        apps.APP.PLATFORM.webhooks.tagPattern
            A regular expression for the tag of a release that GitHub or GitLab announces, with one capture group for
            the version. Other tags are ignored.
        apps.APP.PLATFORM.webhooks.prereleases
            Whether GitHub's prereleases count.
        apps.APP.PLATFORM.webhooks.sets
            latest: a release raises the latest version, and the required one only as *forcePolicy* says. required:
            every release raises both.
        apps.APP.PLATFORM.holdHours
            For *appStore* alone: how many hours after the release in the store a campaign begins, because the lookup
            shows a version hours before everybody can download it. 0 begins at once. Apple's phased release is no
            reason to wait longer: during it, anybody can download the version by hand.

        # apns
            How to push to an iOS app. null for one that only asks at login or reads the LaunchGate document. Android
            has *fcm* instead.
        apps.APP.PLATFORM.apns.teamId
            The ten characters of the developer team, from Apple's developer site. Needed unless there is a *certificate*.
        apps.APP.PLATFORM.apns.keyId
            The ten characters of the signing key. Needed unless there is a *certificate*.
        apps.APP.PLATFORM.apns.key
            The .p8 file from Apple. Beside a *certificate*: the PEM file of its key, unless that is in the same file.
        apps.APP.PLATFORM.apns.sandboxKey.keyId
            The ten characters of another key of the same team, which signs for devices of the sandbox. Without
            *sandboxKey* one key signs for both. Team keys that are made today are for one environment.
        apps.APP.PLATFORM.apns.sandboxKey.key
            The .p8 file of that key.
        apps.APP.PLATFORM.apns.certificate
            A certificate for pushes instead of *teamId*, *keyId* and *key*: PEM, the .cer file from Apple, or a .p12
            file, which is recognised by its content. In an environment variable it is PEM, or the file in base64. It
            is for production, for the sandbox, or for both. A month before its end the log, /readyz and a metric warn
            of it; after it the app's campaigns are suspended.
        apps.APP.PLATFORM.apns.password
            The password of the .p12 file, or of the PEM file with the key.
        apps.APP.PLATFORM.apns.topic
            The bundle id. By default the app's name; with a *certificate* the topic of that, and needed where it has
            several.
        apps.APP.PLATFORM.apns.server
            A server to use instead of Apple's, such as "https://127.0.0.1:2197" for *upgrade-relay simulate-apns*.
        apps.APP.PLATFORM.apns.sandboxServer
            The same for devices of the sandbox. By default the same as *server*, if that is given.
        apps.APP.PLATFORM.apns.tryOtherEnvironment
            Whether a token that is refused as BadDeviceToken is tried once in the other environment. If it is
            accepted there, the device's environment is corrected. The key must be valid for both, or *sandboxKey* be
            given.
        apps.APP.PLATFORM.apns.trustedCertificates
            A PEM file of certificates to trust instead of the system's.
        apps.APP.PLATFORM.apns.proxy
            An HTTP or SOCKS proxy to go through, such as "http://proxy.example:3128". None by default.
        apps.APP.PLATFORM.apns.connections
            Connections at most, for each lane and server. One is used as long as it is enough. While all its streams
            are in use, more are opened, as long as each step raises the rate: that hides the service's latency. A
            connection that did not raise the rate is closed at once, one that was not needed for ten minutes after
            that time.

        # fcm
            How to push to an Android app. Without it, the app only asks at login or reads the launch document.
        apps.APP.PLATFORM.fcm.serviceAccount
            The JSON file of a key of a service account that may send messages (cloudmessaging.messages.create), from
            Google Cloud. A reload takes a new key. Its *token_uri* is where access tokens are asked for.
        apps.APP.PLATFORM.fcm.project
            The id of the Firebase project. By default the one that the key file names.
        apps.APP.PLATFORM.fcm.server
            A server to use instead of Google's, such as "https://127.0.0.1:2198" for *upgrade-relay simulate-fcm*.
        apps.APP.PLATFORM.fcm.trustedCertificates
            A PEM file of certificates to trust instead of the system's, also for access tokens.
        apps.APP.PLATFORM.fcm.proxy
            An HTTP or SOCKS proxy to go through, also for access tokens. None by default.
        apps.APP.PLATFORM.fcm.connections
            Connections at most, for each lane. Each carries about a hundred requests at a time; more are opened as
            long as each step raises the rate.
        apps.APP.PLATFORM.fcm.quotaPerMinute
            Requests per minute at most, of all apps of the project together: the least that one of them names. The
            rate rises from nothing within a minute, as Google asks. Raise it only together with the quota in Google
            Cloud.
        apps.APP.PLATFORM.fcm.avoidQuarterHours
            Whether a campaign that would begin within a minute of a quarter of an hour waits until that is over, as
            Google asks.
        apps.APP.PLATFORM.fcm.packageName
            The only app that the push may reach, by its package name. By default whichever the token is of.
        apps.APP.PLATFORM.fcm.notification.title
            With it the system itself shows the message of the campaign, under this title, while the app is in the
            background. Without *notification* (the default) the push is data alone, which the app reads.

        # sources
            Sources that are watched for new versions. For iOS each entry is { *appStore*: { ... } } or
            { *appStoreConnect*: { ... } }, of each of which an app has one at most, or { *launchGate*: { ... } }.
            With both of the App Store's, App Store Connect decides; that they differ for more than a day is reported.
            For Android it is { *googlePlay*: { ... } }, of which an app has one at most.
        apps.APP.PLATFORM.sources
            Sources that are watched for new versions. None by default.
        apps.APP.PLATFORM.sources[].appStore.id
            The app's number in the App Store. The store's answer raises the latest version, never the required one by
            itself; and a campaign waits until the store offers a version that meets the requirement. If *bundleId* is
            given too, both are asked and the newer answer counts.
        apps.APP.PLATFORM.sources[].appStore.bundleId
            The app's bundle id in the App Store.
        apps.APP.PLATFORM.sources[].appStore.country
            Two letters of the store's country, such as "cn". By default the United States.
        apps.APP.PLATFORM.sources[].appStore.every
            How often to ask. A server of your own may be asked each second.
        apps.APP.PLATFORM.sources[].appStore.lookupServer
            A server to ask instead of Apple's, for tests: https, or http for this machine.
        apps.APP.PLATFORM.sources[].appStoreConnect.appId
            The app's Apple ID: the number in its address in the App Store. The answer raises the latest version; and
            a campaign waits until a version that meets the requirement is ready for distribution, and while its
            phased release is paused.
        apps.APP.PLATFORM.sources[].appStoreConnect.issuerId
            The issuer of the team's API keys, from Users and Access, Integrations. Leave it out for an individual
            key.
        apps.APP.PLATFORM.sources[].appStoreConnect.keyId
            The id of the API key.
        apps.APP.PLATFORM.sources[].appStoreConnect.key
            The .p8 file of the API key. The key's role must be one that can view the app, such as Developer.
        apps.APP.PLATFORM.sources[].appStoreConnect.every
            How often to ask. A server of your own may be asked each second.
        apps.APP.PLATFORM.sources[].appStoreConnect.server
            A server to ask instead of Apple's, for tests.
        apps.APP.PLATFORM.sources[].appStoreConnect.trustedCertificates
            A PEM file of certificates to trust instead of the system's.
        apps.APP.PLATFORM.sources[].launchGate.file
            A LaunchGate document: in its ios, minimumVersion is the required version, optionalVersion the latest.
            Read whenever it changes. Give either this or *url*.
        apps.APP.PLATFORM.sources[].launchGate.url
            The same document at a URL: https, or http for this machine. A fault shows the URL to everybody at
            /readyz, without its query. So put a signature or a key into the query; a user and password before the
            host are refused.
        apps.APP.PLATFORM.sources[].launchGate.every
            How often to ask the *url*.
        apps.APP.PLATFORM.sources[].googlePlay.packageName
            The app's id in Google Play. By default the app's name.
        apps.APP.PLATFORM.sources[].googlePlay.track
            The track that users get the app from. What it offers to everybody raises the latest version and its
            version code, never the required ones by itself; and a campaign waits until the track offers a release
            that meets the requirement: by its version code where the requirement came with one (--required-build),
            else by the version in its name.
        apps.APP.PLATFORM.sources[].googlePlay.key
            The JSON file of a key of a service account that nothing else uses: opening an edit, which is how Google
            tells how far a rollout is, ends the other open edits of the same account.
        apps.APP.PLATFORM.sources[].googlePlay.versionPattern
            A regular expression for a release's name, with one capture group for the version. The name of one that
            does not match holds none.
        apps.APP.PLATFORM.sources[].googlePlay.minimumFraction
            The share of users that a staged rollout must have reached before a release counts as offered. 1 is all of
            them: nobody can tell from outside who is in a rollout, and the others cannot get the version.
        apps.APP.PLATFORM.sources[].googlePlay.every
            How often to ask; from one second with a *server* of your own. While a requirement depends on a staged
            rollout, its fraction is read at every third time.
        apps.APP.PLATFORM.sources[].googlePlay.server
            A server to ask instead of Google's, for tests: https, or http for this machine. Tokens come from the
            token_uri of the key's file.
        apps.APP.PLATFORM.sources[].googlePlay.trustedCertificates
            A PEM file of certificates to trust instead of the system's.
        """
}
