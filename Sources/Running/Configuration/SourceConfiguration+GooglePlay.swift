// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Signing
import Terminal
import UpgradeRules
import VersionSources

extension RelayConfiguration {
    /// The reason why an app on this platform cannot have the source; nil where it can.
    static func foreign(_ source: String, to platform: Platform) -> String? {
        switch (source, platform) {
        case ("googlePlay", .ios): "googlePlay is for android: Google Play has no iOS apps"
        case ("googlePlay", .android): nil
        case ("launchGate", .android): "launchGate is for ios: Gandalf's file holds version codes, not versions"
        case (_, .android): "\(source) is for ios: the App Store has no Android apps"
        case (_, .ios): nil
        }
    }

    /// `{ googlePlay: { … } }`.
    ///
    /// - Parameters:
    ///   - path: the path of the source in the list.
    ///   - list: the reader of the object that holds the list.
    static func addGooglePlay(
        _ reader: ConfigurationReader, at path: String, _ list: ConfigurationReader, into app: inout AppConfiguration
    ) {
        let packageName = reader.string("packageName", check: packageNameProblem)
        if reader.raw("packageName") == nil, packageNameProblem(app.key.app) != nil {
            reader.fault("packageName", "missing; the app's id in Google Play, such as \"com.example.app\"")
        }
        var source = GooglePlaySource(packageName: packageName ?? app.key.app)
        source.track = reader.string("track", default: source.track) { text in
            (1...100).contains(text.utf8.count)
                && text.unicodeScalars.allSatisfy { !DisplayWidth.isControl($0) && $0 != "/" }
                ? nil : "is not a track; \"production\", \"beta\", or what Play Console calls it"
        }
        let key = reader.requiredSecret("key", "where the service account's JSON file is")
        source.namePattern =
            reader.parsed("versionPattern", default: source.namePattern.text) { try TagPattern($0) }
            ?? source.namePattern
        source.minimumOSPattern = reader.parsed("minimumOsPattern") { try TagPattern($0) }
        app.gateRules.countries = reader.choice(
            "countries", default: .hold, "what becomes of a release that is offered in some countries alone")
        let fraction = reader.number(
            "minimumFraction", usual: "1", in: 0.001...1, "a share of users, of which 1 is all of them")
        source.server = storeServer(reader, "server", default: source.server)
        // Google allows 3000 requests a minute, 200000 a day for older projects; a poll sends up to five.
        let shortest = Duration.seconds(source.server == GooglePlaySource.google ? 60 : 1)
        source.every = reader.duration("every", default: "10m", in: shortest...(.seconds(86_400)))
        reader.finish()
        list.add(.googlePlay(source), "Google Play", at: path, to: &app)
        app.sourceKeys[.googlePlay] = key
        if let fraction { app.gateRules.minimumFraction = fraction }
    }

    /// "com.example.app": at least two segments, each of letters, digits and underscores, and none that begins with a digit
    /// (developer.android.com/build/configure-app-module).
    static func packageNameProblem(_ text: String) -> String? {
        let segments = text.split(separator: ".", omittingEmptySubsequences: false)
        let isRight =
            segments.count >= 2 && text.utf8.count <= 255
            && segments.allSatisfy { segment in
                segment.first.map { $0.isASCII && $0.isLetter } ?? false
                    && isOfLettersAndDigits(segment, or: "_")
            }
        return isRight ? nil : "is not a package name; such as \"com.example.app\""
    }
}

extension AppConfiguration {
    static func account(
        _ place: SecretSource, _ environment: [String: String], _ keys: KeyReader = KeyReader()
    ) throws -> GoogleAccount {
        let bytes = try place.read(environment: environment)
        do throws(SigningError) {
            return try keys.account(bytes)
        } catch {
            throw FileProbe.Failure(problem: "\(place.place): \(error)")
        }
    }
}
