// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// Whether a campaign that is suspended for this reason waits for a better credential, or the right environment.
package enum SuspensionReason {
    package static func isOfCredential(_ reason: String?) -> Bool {
        guard let reason else { return false }
        let word = String(reason.prefix { $0 != ":" })
        return ProviderName.allCases.contains { $0.kind.credentialReasons.contains(word) }
    }
}
