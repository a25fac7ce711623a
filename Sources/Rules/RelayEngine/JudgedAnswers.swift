// SPDX-License-Identifier: Apache-2.0

/// The last answers of a push service, as an `UnregisteredWindow` hands them on across a restart. Without them the new process
/// would have too few answers to judge by, and would believe a service that this one doubts.
package struct JudgedAnswers: Hashable, Sendable {
    package var answers: Int
    /// Answers that count against the service.
    package var against: Int
    /// The service is doubted until enough answers clear it.
    package var isSuspect: Bool

    package init(answers: Int = 0, against: Int = 0, isSuspect: Bool = false) {
        self.answers = answers
        self.against = against
        self.isSuspect = isSuspect
    }
}
