// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Signing
import UpgradeRules
import VersionSources

extension ConfigurationCheck {
    /// The keys and certificates that an app's sources name.
    func checkSources(of app: AppConfiguration, _ report: inout Report) {
        for (index, kind) in app.sources.enumerated() {
            let field = "apps[\"\(app.key.app)\"].\(app.key.platform.rawValue).sources[\(index)]"
            guard case .appStoreConnect(let source) = kind else { continue }
            if let place = app.sourceKeys[.appStoreConnect],
                let pem = read(place, "\(field).appStoreConnect.key", &report)
            {
                do {
                    _ = try ES256PrivateKey(pem: pem)
                } catch {
                    report.faults.append(
                        ConfigurationFault("\(field).appStoreConnect.key", "\(place.place): \(error)"))
                }
            }
            if let path = source.trustedCertificates {
                checkCertificates(path, "\(field).appStoreConnect.trustedCertificates", &report)
            }
        }
    }
}
