// SPDX-License-Identifier: Apache-2.0
package import Requirements

extension CampaignRecord {
    /// Whether the act lets the next step begin by another word than "approve": it goes on working, and is offered nowhere.
    package func isApproval(byAnotherWord act: ActKind) -> Bool {
        act == .releaseCampaign || act == .resume && isHeldBeforeWave
    }
}
