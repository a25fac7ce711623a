// SPDX-License-Identifier: Apache-2.0

/// What the last answers of a push service were, as an `UnregisteredWindow` has them: without it the next life of the process would be
/// left with so few of them that nothing can be judged by them, and would believe a service that this one doubts.
package struct JudgedAnswers: Hashable, Sendable {
    package var answers: Int
    /// Those that speak against the service.
    package var against: Int
    /// It is doubted until enough answers say otherwise.
    package var isSuspect: Bool

    package init(answers: Int = 0, against: Int = 0, isSuspect: Bool = false) {
        self.answers = answers
        self.against = against
        self.isSuspect = isSuspect
    }
}
