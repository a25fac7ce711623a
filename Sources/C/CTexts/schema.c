// SPDX-License-Identifier: Apache-2.0
#include "texts.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const char steps[] = {
#embed "schema/01-first-schema.sql"
    , 0,
#embed "schema/02-version-codes.sql"
    , 0,
#embed "schema/03-outbox.sql"
    , 0,
#embed "schema/04-compact-ledger.sql"
    , 0,
#embed "schema/05-waves.sql"
    , 0,
#embed "schema/06-token-pauses.sql"
    , 0,
#embed "schema/07-environments.sql"
    , 0,
#embed "schema/08-token-apps.sql"
    , 0,
#embed "schema/09-in-force.sql"
    , 0,
#embed "schema/10-adoption.sql"
    , 0,
#embed "schema/11-rounds.sql"
    , 0,
#embed "schema/12-latest-texts.sql"
    , 0,
#embed "schema/13-withdrawals.sql"
    , 0,
#embed "schema/14-canary.sql"
    , 0,
#embed "schema/15-suspensions.sql"
    , 0,
#embed "schema/16-requirements.sql"
    , 0,
#embed "schema/17-logins.sql"
    , 0,
#embed "schema/18-dead-tokens.sql"
    , 0,
#embed "schema/19-pausing-servers.sql"
    , 0,
#embed "schema/20-token-doubts.sql"
    , 0,
#embed "schema/21-runs.sql"
    ,
#embed "schema/21-first-schema-of-postgres.sql"
    , 0,
#embed "schema/22-systems.sql"
    , 0,
#embed "schema/23-source-evidence.sql"
    , 0,
#embed "schema/24-retirements.sql"
    , 0,
#embed "schema/25-versions-seen.sql"
    , 0,
#embed "schema/26-urgent-campaigns.sql"
    , 0,
#embed "schema/27-languages.sql"
    , 0,
#embed "schema/28-countries.sql"
    , 0,
#embed "schema/29-audit.sql"
    , 0,
#embed "schema/30-nodes.sql"
    , 0,
#embed "schema/31-strangers.sql"
    , 0,
#embed "schema/32-store-mark.sql"
    , 0,
#embed "schema/33-waves-retrying.sql"
    , 0,
#embed "schema/34-campaign-events.sql"
    , 0,
#embed "schema/35-channels.sql"
    , 0,
#embed "schema/36-channel-answers.sql"
    , 0,
#embed "schema/37-channel-range.sql"
    , 0,
#embed "schema/38-channel-index.sql"
    , 0,
#embed "schema/39-people-of-proxies.sql"
    , 0,
#embed "schema/40-approvals.sql"
    , 0,
#embed "schema/41-counts-over-time.sql"
    , 0
};

const char *relay_schema_steps(void) { return steps; }

size_t relay_schema_steps_size(void) { return sizeof steps; }
