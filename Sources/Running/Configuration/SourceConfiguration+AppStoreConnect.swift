// SPDX-License-Identifier: Apache-2.0
import VersionSources

extension RelayConfiguration {
    /// `{ appStoreConnect: { … } }`: the source, and the place of its key.
    static func readAppStoreConnect(
        _ reader: ConfigurationReader
    ) -> (source: AppStoreConnectSource, key: SecretSource)? {
        if reader.raw("appId") == nil {
            reader.fault("appId", "missing; the app's Apple ID, the number in its address in the App Store")
        }
        let appID = reader.optionalInteger("appId", in: 1...Int.max, "an Apple ID")
        let issuerID = reader.string("issuerId") { text in
            let isRight =
                text.utf8.count == 36
                && text.split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count) == [8, 4, 4, 4, 12]
                && text.utf8.allSatisfy { $0 == UInt8(ascii: "-") || Character(UnicodeScalar($0)).isHexDigit }
            return isRight ? nil : "is not an issuer id; such as \"57246542-96fe-1a63-e053-0824d011072a\""
        }
        let keyID = reader.requiredString("keyId", "the id that App Store Connect shows beside the key") { text in
            (8...20).contains(text.utf8.count) && isOfLettersAndDigits(text)
                ? nil : "is not a key id; letters and digits, such as \"2X9R4HXF34\""
        }
        let key = reader.requiredSecret("key", "where the .p8 file is")
        let server = reader.server("server")?.description ?? AppStoreConnectSource.apple
        let shortest = server == AppStoreConnectSource.apple ? AppStoreConnectSource.shortestInterval : .seconds(1)
        let every = reader.duration("every", default: "5m", in: shortest...(.seconds(86_400)))
        reader.finish()
        guard let appID, let key else { return nil }
        return (
            AppStoreConnectSource(
                appID: Int64(appID), key: AppStoreConnectKey(issuerID: issuerID, keyID: keyID), every: every,
                server: server), key
        )
    }
}
