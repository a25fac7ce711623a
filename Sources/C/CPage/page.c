// SPDX-License-Identifier: Apache-2.0
#include "page.h"

// #embed is C23, and an extension of clang in older C: see COpenAPI.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char style[] = {
#embed "page.css"
};
static const unsigned char script[] = {
#embed "page.js"
};
static const unsigned char icon[] = {
#embed "icon.svg"
};

const void *relay_page_style(void) { return style; }
size_t relay_page_style_size(void) { return sizeof style; }
const void *relay_page_script(void) { return script; }
size_t relay_page_script_size(void) { return sizeof script; }
const void *relay_page_icon(void) { return icon; }
size_t relay_page_icon_size(void) { return sizeof icon; }
