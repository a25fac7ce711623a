// SPDX-License-Identifier: Apache-2.0
import WireFormat

@testable import Configuration

/// What is wrong with a configuration, as its owner reads it; empty where nothing is.
func configurationFaults(_ text: String) -> [String] {
    do {
        _ = try ConfigurationFile.parse(Array(text.utf8), path: "test")
        return []
    } catch {
        return error.faults.map(\.description)
    }
}
