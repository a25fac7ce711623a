// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestPeers
import Testing

/// FAULTS 4: a preloaded library that calls setenv in its constructor left the binary without arguments. Swift's runtime looks for
/// them before `environ` if it is linked into the binary, as in a release: RELAY_BINARY names one.
@Suite struct PreloadTests {
    @Test func aLibraryThatSetsAVariableTakesNoArgumentsAway() throws {
        let folder = try TestFolder.make()
        let source = """
            #include <stdlib.h>
            __attribute__((constructor)) static void begin(void) { setenv("BEFORE_THE_RELAY", "1", 1); }
            """
        try Data(source.utf8).write(to: URL(filePath: "\(folder)/first.c"))
        let built = try CommandResult.of(
            ["cc", "-shared", "-fPIC", "-o", "\(folder)/first.so", "\(folder)/first.c"],
            program: URL(filePath: "/usr/bin/env"))
        try #require(built.status == 0, "\(built.errors)")
        let result = try CommandResult.of(
            ["LD_PRELOAD=\(folder)/first.so", CommandResult.binary().path, "--version"],
            program: URL(filePath: "/usr/bin/env"))
        #expect(result.status == 0 && result.output.hasPrefix("upgrade-relay "), "\(result.output.prefix(200))")
    }
}
