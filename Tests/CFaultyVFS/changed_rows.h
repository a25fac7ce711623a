// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sqlite3.h>

/// Has a connection that was just made to the file `path` note what it changes, if anybody asked for that.
void relay_hook_changes(sqlite3 *handle, const char *path);
