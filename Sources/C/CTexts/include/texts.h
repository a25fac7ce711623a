// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stddef.h>

/// The text of etc/config.json5, which is part of the program.
const char *_Nonnull relay_sample(void);

/// The text of etc/expert.json5: the keys that only an expert turns.
const char *_Nonnull relay_expert_sample(void);

/// The text of commands.txt: the arguments of each command.
const char *_Nonnull relay_commands(void);

/// The text of etc/prometheus/METRICS.md.
const char *_Nonnull relay_metrics(void);

/// The steps of the store's schema in their order, each with a NUL behind it: a line with its name, then the texts of its drivers.
const char *_Nonnull relay_schema_steps(void);
size_t relay_schema_steps_size(void);
