// SPDX-License-Identifier: Apache-2.0
/// Answers in the shape of Google's (developers.google.com/android-publisher/api-ref/rest/v3).
package enum PlaySample {
    package static func summary(_ name: String?, _ builds: [Int64], _ state: String = "PUBLISHED") -> String {
        let artifacts = builds.map { "{ \"versionCode\": \($0) }" }.joined(separator: ", ")
        let name = name.map { "\"releaseName\": \"\($0)\"," } ?? ""
        return """
            { \(name) "track": "production", "activeArtifacts": [ \(artifacts) ],
              "releaseLifecycleState": "RELEASE_LIFECYCLE_STATE_\(state)" }
            """
    }

    package static func list(_ summaries: String...) -> String {
        "{\n  \"releases\": [\n    \(summaries.joined(separator: ",\n"))\n  ]\n}\n"
    }

    /// - Parameter more: further members, each followed by a comma.
    package static func rollout(
        _ name: String?, _ builds: [Int64], _ status: String, _ fraction: Double? = nil, more: String = ""
    ) -> String {
        let codes = builds.map { "\"\($0)\"" }.joined(separator: ", ")
        let name = name.map { "\"name\": \"\($0)\"," } ?? ""
        let fraction = fraction.map { "\"userFraction\": \($0)," } ?? ""
        return """
            { \(name) "versionCodes": [ \(codes) ], \(fraction) \(more)
              "releaseNotes": [ { "language": "en-US", "text": "Fixes.\\n\\ud83d\\ude80" } ], "inAppUpdatePriority": 0,
              "status": "\(status)" }
            """
    }

    package static func track(_ rollouts: String...) -> String {
        "{\n  \"track\": \"production\",\n  \"releases\": [\n    \(rollouts.joined(separator: ",\n"))\n  ]\n}\n"
    }

    package static func error(_ code: Int, _ status: String, _ message: String, reason: String) -> String {
        """
        { "error": { "code": \(code), "message": "\(message)",
            "errors": [ { "message": "\(message)", "domain": "global", "reason": "\(reason)" } ], "status": "\(status)" } }
        """
    }
}
