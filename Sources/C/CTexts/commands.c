// SPDX-License-Identifier: Apache-2.0
#include "texts.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const char commands[] = {
#embed "commands.txt" suffix(, 0)
};

const char *relay_commands(void) { return commands; }
