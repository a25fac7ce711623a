// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules
package import WireFormat

/// An event for an app's requirements and campaigns.
package enum RequirementEvent: Sendable {
    /// A person or a machine raises or blocks versions, or words them anew.
    case asked(VersionBump)
    /// A look at what is due: the stores' verdicts, another program's rows, campaigns that are missing.
    case looked
    /// A person lets a waiting requirement through: this version, or whichever waits; only one of this kind, where a
    /// kind is given.
    case released(Version?, Requirement.Kind? = nil)
    /// A person takes a version back.
    case withdrawn(Version, reason: String?)
    /// A person lets blocked versions be used again.
    case unblocked([Version], reason: String?)
    case campaign(CampaignKey, CampaignChange)
}

/// An event for one campaign.
package enum CampaignChange: Hashable, Sendable {
    case paused
    /// A person resumes it, whatever stopped it.
    case resumed
    case cancelled
    /// A person orders it sent at any hour, until it is paused or reopened.
    case hurried
    /// The relay stops it.
    case suspended(SuspensionCause, String)
    /// One of these causes was put right, which may be the one that the campaign was stopped for.
    case repaired(Set<SuspensionCause>)
    /// Its next wave begins: its requirement is in force for `reach` ten-thousandths of the users.
    case stageBegan(reach: Int)
    /// Each device of its audience has an outcome.
    case drained
    /// Its time to live has run out.
    case expired
    /// It is sent again to some of its devices.
    case reopened(timeToLive: Duration)
}

/// Why a decision was refused. Nothing has changed then.
package enum RequirementRefusal: Error, Hashable, Sendable {
    case versionWouldFall(field: String, current: Version, proposed: Version)
    /// A campaign would have no address.
    case noDownloadURL(Version)
    /// The version is for more users than a list of telephones could name.
    case notACanary(Version)
    /// Everybody whom it is for must have it already, so it cannot get another moment.
    case inForceAlready(Version)
    /// A requirement would come into force at a moment that is over.
    case momentPassed(Timestamp, now: Timestamp)
    /// A requirement would come into force later than `latest`, the last moment that is allowed.
    case momentTooFar(Timestamp, latest: Timestamp)
    /// Nothing waits to be let through.
    case nothingWaits
    /// The version is not the required one, which is `now`; nil: none is.
    case notRequired(Version, now: Version?)
    /// The version is blocked: no user may be asked to get it.
    case isBlocked(Version)
    case notBlocked(Version)
    /// No version above it is known that is not blocked itself, and the block is not confirmed: users who leave it would
    /// find nothing.
    case nothingAbove(Version)
    /// The version would be asked for and blocked at the same time, or is required while nothing above it is known: the
    /// block would lock users out, and no confirmation allows that.
    case deadEnd(Version)
    /// The campaign's state does not allow it.
    case wrongState(CampaignState)
    /// The bump, or another program's row that is released, breaks the rules.
    case breaksRules([FieldFault])
    /// A person has taken it back, and a machine asks for it again.
    case wasWithdrawn(Version, Requirement.Kind)
    /// No push can carry the requirement; with the reason.
    case unsendable(String)
    /// No evidence supports the proposed version, and it is not confirmed.
    case implausible(field: String, proposed: Version, known: Version)
}
