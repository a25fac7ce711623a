// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import RelayEngine
import Signing
import StorePeers

@testable import VersionSources

extension ConnectSample {
    static func source(
        _ key: AppStoreConnectKey = .init(issuerID: issuer, keyID: "2X9R4HXF34"), every: Duration = .seconds(300),
        server: String = AppStoreConnectSource.apple, trusted: String? = nil
    ) -> AppStoreConnectSource {
        AppStoreConnectSource(
            appID: appID, key: key, every: every, server: server, egress: Egress(trustedCertificates: trusted))
    }

    static func read(_ text: String) throws -> AppStoreConnectPage {
        try AppStoreConnectAnswer.page(Array(text.utf8), of: source())
    }
}
