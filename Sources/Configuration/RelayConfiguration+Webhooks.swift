// SPDX-License-Identifier: Apache-2.0
import VersionSources

extension RelayConfiguration {
    /// Reads an app's own `webhooks`: what becomes of announced releases.
    static func readReleaseRules(_ reader: ConfigurationReader) -> ReleaseRules {
        var rules = ReleaseRules()
        let pattern = reader.string("tagPattern", default: rules.tagPattern.text) { text in
            do throws(TagPatternError) {
                _ = try TagPattern(text)
                return nil
            } catch {
                return error.description
            }
        }
        if let parsed = try? TagPattern(pattern) { rules.tagPattern = parsed }
        rules.prereleases = reader.flag("prereleases", default: rules.prereleases)
        rules.sets = reader.choice(
            "sets", default: rules.sets, among: ReleaseRules.Target.allCases.map { ($0.rawValue, $0) },
            "what a release raises")
        reader.finish()
        return rules
    }
}
