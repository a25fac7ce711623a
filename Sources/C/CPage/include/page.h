// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stddef.h>

/// The files that a browser loads, which are part of the program.
const void *_Nonnull relay_page_style(void);
size_t relay_page_style_size(void);
const void *_Nonnull relay_page_script(void);
size_t relay_page_script_size(void);
const void *_Nonnull relay_page_icon(void);
size_t relay_page_icon_size(void);
