// SPDX-License-Identifier: Apache-2.0
#pragma once
// Otherwise a macro would replace sd_journal_sendv by a function that adds C's file and line.
#define SD_JOURNAL_SUPPRESS_LOCATION 1
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
