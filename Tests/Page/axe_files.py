# SPDX-License-Identifier: Apache-2.0
"""axe-core's script, out of the package that carries it. The package itself wants Playwright, which is not needed."""

import functools
import importlib.util
import pathlib


@functools.cache
def source():
    for folder in importlib.util.find_spec("axe_playwright_python").submodule_search_locations:
        file = pathlib.Path(folder) / "axe.min.js"
        if file.exists():
            return file.read_text()
    raise FileNotFoundError("axe.min.js is not in the package axe_playwright_python")
