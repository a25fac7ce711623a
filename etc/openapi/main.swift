// SPDX-License-Identifier: Apache-2.0
import Foundation
import WireFormat

// Writes the OpenAPI document of routes, shapes and texts: `make openapi` calls it.
guard CommandLine.arguments.count == 3 else {
    print("usage: openapi FOLDER-OF-TEXTS FILE")
    exit(2)
}
let document = try APIDocument(Texts(folder: URL(filePath: CommandLine.arguments[1])))
for fault in document.faults { print("openapi: \(fault)") }
guard document.faults.isEmpty else { exit(1) }
try Data(document.bytes).write(to: URL(filePath: CommandLine.arguments[2]))
