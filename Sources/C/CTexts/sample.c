// SPDX-License-Identifier: Apache-2.0
#include "texts.h"

// #embed is C23, and an extension of clang in older C: see COpenAPI.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char sample[] = {
#embed "../../../etc/config.json5" suffix(, 0)
};

static const char expert[] = {
#embed "../../../etc/expert.json5" suffix(, 0)
};

const char *relay_sample(void) { return sample; }

const char *relay_expert_sample(void) { return expert; }
