// SPDX-License-Identifier: Apache-2.0

/// The tables of the store whose changes are decisions: a relay must not send from a copy made before such a change. A table
/// that is in neither list has to be judged.
package enum DecidingTables {
    package static let all: Set<String> = [
        "audit", "version", "requirement", "campaign", "campaign_run", "access_token", "session", "alert",
    ]

    /// The tables whose changes decide nothing, and why.
    package static let others: [String: String] = [
        "app": "a name", "app_tally": "counts", "version_tally": "counts", "version_seen": "counts",
        "campaign_reason": "counts", "campaign_tally": "counts", "version_census": "counts", "version_share": "counts",
        "version_count": "counts",
        "device": "apps and imports do it by the thousand; by hand it is in audit", "former_telephone": "with device",
        "erased_device": "with audit", "erasure": "with audit",
        "token_doubt": "with a commit, which campaign_run counts",
        "requirement_canary": "with requirement", "requirement_event": "with requirement",
        "requirement_text": "with requirement",
        "webhook": "with the requirement that it asks for", "provider_token": "signed anew",
        "campaign_told": "with a commit", "campaign_adoption": "counts", "campaign_latency": "counts",
        "campaign_wave": "with audit",
        "campaign_round": "with campaign", "shard": "with campaign_run", "delivery": "with campaign_run",
        "delivery_batch": "with campaign_run", "delivery_upgrade": "what phones said",
        "receiver": "as the configuration says", "campaign_event": "with campaign", "notification": "with campaign",
        "notification_attempt": "what receivers said", "source_evidence": "what app stores said; they are asked again",
        "audit_horizon": "pruning", "node": "leases", "leader": "leases", "project": "leases",
        "probe": "a test of writing", "migration": "steps", "release": "releases", "store_schema": "steps",
        "app_lock": "locks", "store_identity": "which store it is", "decision": "decisions themselves",
        "store_word": "with audit", "approval": "with audit",
    ].merging((0..<16).map { ("node_gate_\($0)", "locks") }) { $1 }
}
