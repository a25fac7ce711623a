// SPDX-License-Identifier: Apache-2.0

/// A promise that was broken.
package struct Violation: Error, Codable, Hashable, Sendable, CustomStringConvertible {
    /// The promise's name: two violations with the same name are the same failure. See `Promise`.
    package var rule: String
    package var text: String

    package var description: String { "\(rule): \(text)" }
}

/// Every promise that the model checks, with its source. The table in README.md is made of this.
package enum Promise {
    package static let all: [(rule: String, says: String, source: String)] = [
        ("push.stranger", "nobody is pushed whose device is not registered any more", "DESIGN 3"),
        ("push.user", "a push is for the user who is logged in on the device now", "DESIGN 3"),
        ("push.current", "nobody is pushed who was seen with the required version", "DESIGN 3"),
        ("push.block", "the push of a block goes to who runs that version, and to nobody else", "VERSIONS"),
        ("push.osTooOld", "nobody is pushed whose system is too old for the version", "VERSIONS"),
        (
            "push.hours", "nothing is begun outside an app's hours, unless a person wants the campaign sent at once",
            "PACING"
        ),
        (
            "campaign.urgent", "a campaign that a person wants sent at once waits for no hours, also after a restart",
            "PACING"
        ),
        ("push.dead", "nobody is pushed whose token the registry knows as dead", "TROUBLESHOOTING: knownDead"),
        ("push.withdrawn", "what was withdrawn is not pushed", "DESIGN 1, 2"),
        ("push.cancelled", "a cancelled campaign sends nothing", "README"),
        ("push.paused", "a paused campaign sends nothing", "README"),
        ("push.superseded", "what a newer requirement superseded is not sent", "DESIGN 6"),
        ("push.gate", "a push waits for the store", "DESIGN 8"),
        ("push.halted", "nothing is sent for a version whose rollout is halted", "DESIGN 8"),
        ("push.canary", "before a person's release a canary goes to its users alone", "DESIGN 3"),
        (
            "push.calledBack",
            "what was called back while it was on its way does not go out again on another connection",
            "DESIGN 6"
        ),
        ("push.noRoute", "an app that is not configured gets no push", "README"),
        ("push.twice", "a device that has its push gets no other for the same requirement", "DESIGN 2, 5"),
        (
            "push.pause",
            "a key that the push service wants left alone is left alone, also over a restart, until a person resumes a campaign of the app",
            "DESIGN 10"
        ),
        ("push.refused", "a push that is refused for the credential is not sent again and again", "DESIGN 10"),
        ("push.unrecorded", "what cannot be recorded is not sent", "DESIGN 12"),
        (
            "store.back",
            "nothing leaves and nothing is decided from a store that went back, until a person's word, and that ends it",
            "DESIGN 12"
        ),
        ("inForce.unknown", "nothing is in force that nobody asked for", "DESIGN 1"),
        (
            "inForce.implausible",
            "nothing that leaps over all that is known is forced before a person has said that it is meant", "DESIGN 11"
        ),
        ("inForce.block", "a version must be left where a person has blocked it, and nowhere else", "VERSIONS"),
        (
            "announced.stays",
            "what everybody was told of they are told of until it is taken back: by a person, by its store, by a block",
            "VERSIONS"
        ),
        ("announced.hold", "while the wait after a release lasts, the version is announced", "VERSIONS"),
        ("inForce.moment", "nobody is forced, and nobody pushed to, before the moment of a requirement", "VERSIONS"),
        (
            "inForce.since",
            "what is in force is given since the moment at which everybody was reached, also after a kill", "CONTRACT"
        ),
        ("inForce.osTooOld", "nobody is forced to have what does not run on the system of that phone", "VERSIONS"),
        ("inForce.withdrawn", "what was withdrawn is in force nowhere", "DESIGN 1"),
        ("inForce.gate", "a force waits for the store, on every channel", "DESIGN 8"),
        (
            "inForce.removedSource",
            "what waits for a store goes on waiting when its source is taken out of the configuration", "DESIGN 8"
        ),
        ("inForce.halted", "a halted rollout takes back what its gate let through", "DESIGN 8"),
        ("inForce.hold", "the wait for a version that the lookup shows goes on over a restart", "DESIGN 8"),
        ("inForce.haltUnheard", "a rollout that is halted after everybody had it is noticed", "DESIGN 8"),
        (
            "inForce.unheard",
            "what another program requires is heard of at the next look, whatever the wall clock shows", "DESIGN 2"
        ),
        ("inForce.canary", "a canary is in force for its users alone until a person releases it", "DESIGN 3, 8"),
        (
            "campaign.superseded", "a campaign gives way only to a requirement that is in force for everybody",
            "DESIGN 6"
        ),
        ("campaign.inFlight", "what is on its way is shown so, also of a campaign that is over", "CONTRACT"),
        ("texts.stick", "what a bump leaves out of its texts is not kept from the bump before", "CONTRACT"),
        ("service.imagined", "a service that takes nearly all pushes is not held as if it were out", "DESIGN 10"),
        ("service.sandbox", "a sandbox that is in trouble holds nothing back in production", "DESIGN 10"),
        (
            "service.probed", "a service that is out gets a few pushes now and then, until it takes them", "DESIGN 10"
        ),
        (
            "store.conflict",
            "no campaign stops because its outcomes do not fit the store, where no other program has written into that",
            "DESIGN 2, 12"
        ),
        ("store.gone", "no device leaves the store while its push is on its way, but by hand", "README"),
        ("canary.itself", "no canary releases itself", "DESIGN 8"),
        ("canary.halted", "a rollout that is halted stops its canary, too", "DESIGN 8"),
        ("canary.deadEnd", "a canary can be released for as long as it is required", "DESIGN 10"),
        (
            "webhook.captured", "a signed body that is sent again under another id raises nothing that was withdrawn",
            "README"
        ),
        ("source.revives", "no file and no store brings back what a person has withdrawn", "DESIGN 1"),
        ("inForce.wave", "who is not in a wave yet is forced on no channel", "DESIGN 8"),
        ("inForce.pushed", "whom a wave has pushed to is forced at login, too", "DESIGN 8"),
        ("inForce.never", "what is required comes into force once nothing is in trouble", "DESIGN 2"),
        ("channels.differ", "login check, proxies and launch document say the same", "DESIGN 8"),
        (
            "channels.verdict",
            "each channel says to each user, whatever the version and the system, what is in force for that user",
            #"VERSIONS: "`inForce` is what all channels speak of""#
        ),
        (
            "plan.counts",
            "what plan counts as pushed is what the bump would push, and what it says rises does",
            #"VERSIONS: "what that bump would push""#
        ),
        (
            "store.halts",
            "a halted rollout takes back floors, blocks and announcements alike",
            #"VERSIONS: "if its rollout is halted, the block waits again""#
        ),
        (
            "block.gate",
            "a block waits until its store offers something above it, and is in force then",
            #"VERSIONS: "the block waits until that offers a version above it""#
        ),
        (
            "word.kept",
            "no store undoes what a person has said of a version: the systems that it runs on, its moment",
            #"SOURCES: "It becomes the `minimumOs` of a published version, unless""#
        ),
        (
            "system.listed",
            "a store says on which systems a version runs where nobody else has",
            #"VERSIONS: "Without it the relay takes""#
        ),
        (
            "wave.released",
            "a wave that a person has released waits for no pause",
            #"PACING: "begins the wave earlier""#
        ),
        (
            "hours.open",
            "within an app's hours no campaign waits for them, also after midnight",
            #"PACING: "over midnight where `to` is the earlier one""#
        ),
        ("channels.explained", "what is explained of a channel is what it answers", "CONTRACT"),
        (
            "channels.summary",
            "the line about a user says whether the user is locked out, by which version, and whether a push was taken",
            "ANSWERS: one user"
        ),
        ("restart.answers", "a restart changes no answer", "DESIGN 2"),
        ("campaign.resumes", "a suspended campaign goes on only by a person or when its cause has ended", "DESIGN 7"),
        ("campaign.waves", "each wave but the first waits for its approval", "README"),
        ("wave.cut", "a wave is over when each of its devices has an outcome", "DESIGN 8"),
        ("campaign.revived", "what is over begins again only where a person or the configuration says so", "README"),
        ("campaign.counts", "no count is negative, and the list has what the counts say", "CONTRACT"),
        ("campaign.leftovers", "nothing waits in a campaign that is over", "DESIGN 2"),
        ("campaign.two", "one requirement, one campaign", "DESIGN 2"),
        ("campaign.none", "a requirement in force has its campaign, whoever asked for it", "DESIGN 2"),
        ("campaign.noRoute", "a campaign that cannot send says so", "DESIGN 10"),
        (
            "ledger.answer", "what a service said of a push is what the ledger has of it, and why",
            "TROUBLESHOOTING: push reasons"
        ),
        ("ledger.leftOut", "who is left out is left out for what was so", "TROUBLESHOOTING: push reasons"),
        ("ledger.attempts", "the ledger counts the attempts that left, and no others", "TROUBLESHOOTING: NoConnection"),
        ("ledger.retry", "what failed for now is tried again when the schedule says so", "PACING: retries"),
        ("ledger.user", "a delivery names whom the push was for, until he is erased", "ANSWERS: erase"),
        (
            "ledger.ended", "nobody is cancelled in a campaign that goes on, or expired before its time",
            "PACING: sending again"
        ),
        ("ledger.channels", "each service's answers are counted as its own, and all of them", "ANSWERS: channels"),
        ("ledger.sums", "what is counted by state and by reason is what the list has", "TROUBLESHOOTING: rejectedBy"),
        ("lease.fenced", "nothing is recorded of a campaign that is another relay's", "RELAYS: one owner"),
        ("lease.own", "what is answered of a campaign that nobody else has had is recorded", "DESIGN 5"),
        (
            "commit.order", "at no moment the store has what a campaign is suspended for without its suspension",
            "DESIGN 7"
        ),
        ("wave.user", "all devices of a user are of one wave", "PACING: waves"),
        ("wave.share", "a wave holds its percentage of the users, as near as chance allows", "PACING: waves"),
        ("wave.pause", "a wave begins after its pause, or when a person says so", "PACING: between waves"),
        (
            "campaign.refusals",
            "what was refused before its service had taken anything is tried again when its campaign is taken up",
            "DESIGN 7"
        ),
        ("campaign.silent", "a campaign that does not move says why", "README"),
        ("campaign.clock", "a clock that was wrong and is right again holds nothing up", "DESIGN 10"),
        ("campaign.never", "every campaign ends once nothing is in trouble", "DESIGN 10"),
        ("everybody.told", "everybody who must be told is, once nothing is in trouble", "DESIGN 2"),
        ("everybody.deadEnd", "the way out that an error text names works", "DESIGN 10"),
        ("token.lost", "a mad service never costs a token", "DESIGN 7"),
        ("token.wrong", "a token is retired only by an answer about that token", "DESIGN 7"),
        ("token.revived", "an older file does not revive a token that has died", "DESIGN 11"),
        (
            "registry.field", "a device is, field by field, what its app, a person or a file has said of it last",
            "APPS: \"`PUT` replaces the whole\", \"`PATCH` changes what it names\""
        ),
        (
            "registry.older", "what a file says that is older than what is known is left out",
            "APPS: \"a line replaces what it names as follows\""
        ),
        (
            "registry.leftOut", "what a file or a PATCH leaves out stays as it is",
            "APPS: \"a column that the file does not have stays as it is\""
        ),
        (
            "registry.life", "who registers lives, what died is dead until then, and when each was is kept",
            "APPS: \"stays dead unless `registeredAt` is later\""
        ),
        (
            "registry.unasked", "no device changes, comes or goes of which nobody has said anything",
            "APPS: \"the same file may be imported every night\""
        ),
        (
            "registry.lines", "each line of a list becomes what the summary says, or is refused alone",
            "APPS: \"what would be new, updated, unchanged and refused\""
        ),
        (
            "registry.counts", "as many devices of each app and version are reported as there are",
            "VERSIONS: \"ten devices, and at least one in a hundred, were seen with it\""
        ),
        (
            "registry.places", "the systems and countries that are known are those of the devices",
            "VERSIONS: \"every system that is known of the app's devices\""
        ),
        (
            "registry.found", "a device is found by its token and its user as it is listed",
            "ANSWERS: \"one user's devices\""
        ),
        (
            "registry.dead", "the list of dead tokens has who is dead, and nobody else",
            "APPS: \"so that none is missed\""
        ),
        ("registry.overruled", "what a device said itself is not overruled by an older file", "DESIGN 11"),
        ("registry.moved", "no device is moved out of the environment that takes its pushes", "config.json5"),
        ("registry.twice", "a phone that has replaced its token is one device", "APPS"),
        ("registry.erased", "an erased user's number is nowhere", "ANSWERS: \"Erase a user\""),
        ("dispatcher.spins", "the dispatcher comes to rest", "DESIGN 10"),
        ("dispatcher.stuck", "what is due is done", "DESIGN 10"),
        (
            "process.lives", "nothing in the world ends the relay's process or keeps it busy for ever", "DESIGN 10"
        ),
        (
            "events.states",
            "receivers are told once of each state that a campaign comes into, each force, each wave, each withdrawal",
            #"MONITORING: "a campaign came into this state""#
        ),
        (
            "events.once",
            "an event is sent again only where something has failed, under its id and with its words",
            #"MONITORING: "is tried again for three days""#
        ),
        (
            "events.words",
            "an event names its campaign, its version and its state",
            #"MONITORING, "Outgoing webhooks""#
        ),
        (
            "audit.values",
            "a row of the audit trail names what was changed, and what it is since then",
            "ACCESS"
        ),
        ("events.last", "each receiver is told the state in which a campaign ends", "README"),
        ("store.check", "the store is sound", "README"),
        ("store.pruned", "pruning takes nothing from a campaign that is open", "README"),
        ("store.refuses", "the store takes everything while its disk works", "DESIGN 12"),
        ("store.lost", "what was acknowledged survives a kill", "DESIGN 5"),
        (
            "audit.kept",
            "what a person or a webhook did, and the relay said was done, is in the audit trail once, with who it was",
            "README"
        ),
        (
            "act.stale",
            "nothing is done by what somebody was shown and does not hold any more, and what holds is done", "DESIGN 13"
        ),
        (
            "approval.second",
            "nothing that reaches more than the share is done without a second person, but in an emergency",
            "VERSIONS, \"Four eyes\""
        ),
        (
            "approval.loud", "an act that one person does alone in an emergency is in the audit trail as such",
            "VERSIONS, \"Four eyes\""
        ),
        ("approval.own", "who asked does not approve", "VERSIONS, \"Four eyes\""),
        (
            "approval.late", "nothing is approved after its time, or once it was refused or replaced",
            "VERSIONS, \"Four eyes\""
        ),
        ("audit.states", "the audit trail has each state that a campaign came into, in their order", "README"),
    ]
}
