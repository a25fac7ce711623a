// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Signing
import UpgradeRules
import VersionSources

extension ConfigurationCheck {
    /// The keys and certificates that an app's sources name.
    func checkSources(of app: AppConfiguration, _ report: inout Report) {
        for (index, kind) in app.sources.enumerated() {
            let field = "apps[\"\(app.key.app)\"].\(app.key.platform.rawValue).sources[\(index)]"
            if case .googlePlay(let source) = kind {
                checkGooglePlay(source, "\(field).googlePlay", of: app, &report)
            }
            if case .appStoreConnect(let source) = kind {
                checkAppStoreConnect(source, "\(field).appStoreConnect", of: app, &report)
            }
        }
    }
}
