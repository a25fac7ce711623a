// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import RelayEngine
import Signing
import StorePeers
import TestPeers

@testable import VersionSources

extension PlayStandIn {
    /// A source that asks this server.
    func source(every: Duration = .milliseconds(30), keyID: String = "k1", key: RS256PrivateKey? = nil) throws
        -> VersionSource.Kind
    {
        .googlePlay(
            GooglePlaySource(
                packageName: "com.example.app", every: every, server: "https://127.0.0.1:\(port)",
                egress: Egress(trustedCertificates: identity.authorityPath),
                account: try GoogleAccount(keyFile: accountFile(keyID: keyID, key: key))))
    }
}
