// SPDX-License-Identifier: Apache-2.0

/// Everything that enough seeds must reach. A thing that is never reached is not tested.
package enum Coverage {
    package static let expected: [String] =
        OperationKind.allCases.map { "did: \($0.rawValue)" }
        + transitions.map { "campaign: \($0)" }
        + ["200", "400", "401", "403", "404", "410", "429", "503", "lost", "refused"].map { "answer: \($0)" }
        + ["device: moved to the other environment"]

    /// The transitions of a campaign's state, as seen from step to step.
    private static let transitions = [
        "new → running", "new → waiting", "new → completed", "new → suspended", "running → paused",
        "running → suspended",
        "running → completed", "running → cancelled", "running → superseded", "waiting → running", "waiting → paused",
        "waiting → cancelled", "waiting → superseded", "paused → running", "paused → waiting", "paused → cancelled",
        "paused → superseded", "suspended → running", "suspended → cancelled", "suspended → superseded",
        "completed → running", "cancelled → running",
    ]
}
