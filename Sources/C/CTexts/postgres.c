// SPDX-License-Identifier: Apache-2.0
#include "texts.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const char steps[] = {
#embed "postgres/21-first-schema.sql"
    , 0,
#embed "postgres/22-systems.sql"
    , 0,
#embed "postgres/23-source-evidence.sql"
    , 0,
#embed "postgres/24-retirements.sql"
    , 0,
#embed "postgres/25-versions-seen.sql"
    , 0,
#embed "postgres/26-urgent-campaigns.sql"
    , 0,
#embed "postgres/27-languages.sql"
    , 0,
#embed "postgres/28-countries.sql"
    , 0,
#embed "postgres/29-audit.sql"
    , 0,
#embed "postgres/30-nodes.sql"
    , 0,
#embed "postgres/31-strangers.sql"
    , 0,
#embed "postgres/32-store-mark.sql"
    , 0,
#embed "postgres/33-waves-retrying.sql"
    , 0,
#embed "postgres/34-campaign-events.sql"
    , 0,
#embed "postgres/35-channels.sql"
    , 0,
#embed "postgres/36-channel-answers.sql"
    , 0,
#embed "postgres/37-channel-range.sql"
    , 0,
#embed "postgres/38-channel-index.sql"
    , 0
};

const char *relay_postgres_steps(void) { return steps; }

size_t relay_postgres_steps_size(void) { return sizeof steps; }
