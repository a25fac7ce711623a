// SPDX-License-Identifier: Apache-2.0
#include "texts.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const char metrics[] = {
#embed "../../../etc/prometheus/METRICS.md" suffix(, 0)
};

const char *relay_metrics(void) { return metrics; }
