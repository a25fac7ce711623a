// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules
package import WireFormat

/// What happens to an app's requirements and campaigns.
package enum RequirementEvent: Sendable {
    /// Somebody raises versions, or words them anew.
    case asked(VersionBump)
    /// Somebody looks at what is due: the stores' verdicts, what another program wrote, campaigns that are missing.
    case looked
    /// A person lets through what waits: this version, or whichever does; a floor or a block, where it says which.
    case released(Version?, Requirement.Kind? = nil)
    /// A person takes a version back.
    case withdrawn(Version, reason: String?)
    /// A person lets versions that were to be left be used again.
    case unblocked([Version], reason: String?)
    case campaign(CampaignKey, CampaignChange)
}

/// What happens to one campaign.
package enum CampaignChange: Hashable, Sendable {
    case paused
    /// A person wants it to go on, whatever stopped it.
    case resumed
    case cancelled
    /// A person wants it sent at once, whatever the hour: until it is paused, or sent again.
    case hurried
    /// The relay stops it.
    case suspended(SuspensionCause, String)
    /// What it was stopped for, if it is one of these, was put right.
    case repaired(Set<SuspensionCause>)
    /// Its next wave begins: its requirement is in force for so many ten-thousandths of the users.
    case stageBegan(reach: Int)
    /// Each device of its audience has an outcome.
    case drained
    /// Its time to live has run out.
    case expired
    /// It is sent again to some of its devices.
    case reopened(timeToLive: Duration)
}

/// Why a decision was not made. Nothing has changed then.
package enum RequirementRefusal: Error, Hashable, Sendable {
    case versionWouldFall(field: String, current: Version, proposed: Version)
    /// A campaign would have none.
    case noDownloadURL(Version)
    /// The version is for more users than a list of telephones could name.
    case notACanary(Version)
    /// Everybody whom it is for must have it already: it has no moment to come.
    case inForceAlready(Version)
    /// A requirement would come into force at a moment that is over.
    case momentPassed(Timestamp, now: Timestamp)
    /// A requirement would come into force further ahead than any may.
    case momentTooFar(Timestamp, latest: Timestamp)
    /// Nothing waits to be let through.
    case nothingWaits
    /// This is not what is required; nil: nothing is.
    case notRequired(Version, now: Version?)
    /// It is to be left: nobody may be told to get it.
    case isBlocked(Version)
    /// It is not to be left.
    case notBlocked(Version)
    /// No version above it is known that is not blocked itself, and nobody has confirmed it: who leaves it would find nothing.
    case nothingAbove(Version)
    /// It would be asked for and have to be left at the same time, or has to be had while nothing above it is known: nobody would get in
    /// any more, and nobody can confirm that.
    case deadEnd(Version)
    /// The campaign's state does not allow it.
    case wrongState(CampaignState)
    /// It holds what no bump may hold.
    case breaksRules([FieldFault])
    /// A person has taken it back, and a machine asks for it again.
    case wasWithdrawn(Version, Requirement.Kind)
    /// No push can hold what it says; why.
    case unsendable(String)
    /// Nothing speaks for such a version, and nobody has confirmed it.
    case implausible(field: String, proposed: Version, known: Version)
}
