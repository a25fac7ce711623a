// SPDX-License-Identifier: Apache-2.0
#pragma once
// The macro of the same name would hide sd_journal_sendv behind one that adds C's file and line.
#define SD_JOURNAL_SUPPRESS_LOCATION 1
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
