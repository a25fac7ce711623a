# SPDX-License-Identifier: Apache-2.0
"""Runs the tests whose names are given, or all. The last line says how many checks ran and failed."""

import pathlib
import sys
import unittest

import case

here = pathlib.Path(__file__).parent
loader = unittest.TestLoader()
loader.testNamePatterns = [f"*{name}*" for name in sys.argv[1:]] or None
suite = loader.discover(str(here), pattern="test_*.py", top_level_dir=str(here))
result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
# What ended with an exception has failed, too, however many of its checks went well.
failed = case.counted["failed"] + len(result.errors)
for line in case.figures:
    print(line)
print(f"{case.counted['ran'] + len(result.errors)} checks ran in {result.testsRun} tests, {failed} failed")
sys.exit(1 if failed or not result.testsRun else 0)
