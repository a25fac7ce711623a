// SPDX-License-Identifier: Apache-2.0
import WireFormat

@testable import Configuration

/// The faults of a configuration, as its owner reads them; empty where there are none.
func configurationFaults(_ text: String) -> [String] {
    do {
        _ = try ConfigurationFile.parse(Array(text.utf8), path: "test")
        return []
    } catch {
        return error.faults.map(\.description)
    }
}
