// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A kept history: a fault as it was found, shrunk. Its first lines describe it:
///
/// ```
/// # rule: everybody.deadEnd
/// # fault: withdraw leaves the campaign before it dead (FAULTS 1.4)
/// ```
package struct KeptScript {
    /// The name of its file.
    package var name: String
    package var rule: String
    package var fault: String
    package var script: Script

    package static func all(in folder: String) throws -> [KeptScript] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".script") }.sorted()
            .map {
                name in
                let text = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
                func value(_ key: String) throws(ScriptError) -> String {
                    let line = text.split(separator: "\n").first { $0.hasPrefix("# \(key): ") }
                    guard let line else { throw ScriptError("\(name) has no line \"# \(key): …\"") }
                    return String(line.dropFirst("# \(key): ".count))
                }
                return KeptScript(
                    name: name, rule: try value("rule"), fault: try value("fault"), script: try Script(text: text))
            }
    }
}
