// SPDX-License-Identifier: Apache-2.0
import Foundation

// Writes every manual page into the folder that it is given: `make build` calls it.
guard let folder = CommandLine.arguments.dropFirst().first, !folder.hasPrefix("-") else {
    print("usage: manual FOLDER")
    exit(2)
}
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
for (name, text) in ManualPage.pages + [("upgrade-relay.json5.5", ConfigurationManual.text)] {
    try Data(text.utf8).write(to: URL(filePath: folder).appending(path: name))
}
