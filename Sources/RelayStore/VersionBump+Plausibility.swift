// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

extension VersionBump {
    /// The version of this bump that rises implausibly: by more than one in its first number over the highest that is known,
    /// as 20.0.0 does where 2.0.0 was meant. nil where nothing is known: the first version of an app may be any.
    package func implausible(known: Version?) -> (field: String, version: Version)? {
        guard let known else { return nil }
        let highest = known.segments.first ?? 0
        for (field, version) in [("required", required), ("latest", latest)] {
            if let version, let first = version.segments.first, first > highest, first - highest > 1 {
                return (field, version)
            }
        }
        return nil
    }
}
