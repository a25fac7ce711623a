// SPDX-License-Identifier: Apache-2.0

/// The time for which a certificate is valid, and its standing at a moment. Pure.
package struct CertificateTerm: Sendable, Hashable {
    package enum Standing: Sendable, Hashable {
        /// It is not valid before `notBefore`: either it is very new, or the clock is wrong.
        case notYet
        case good
        /// It ends within `notice`: time to have another one made.
        case ending
        case ended
    }

    /// How long before its end it is reported: Apple's certificates are valid for a year, and a person has to make the next one
    /// by hand.
    package static let notice = Duration.seconds(30 * 86_400)

    package var notBefore: Timestamp
    /// The last moment at which it is valid (RFC 5280, 4.1.2.5: "through notAfter, inclusive").
    package var notAfter: Timestamp

    package init(notBefore: Timestamp, notAfter: Timestamp) {
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    package func standing(at now: Timestamp) -> Standing {
        if now < notBefore { return .notYet }
        if now > notAfter { return .ended }
        return notAfter - now <= Self.notice ? .ending : .good
    }

    /// The time until its end; below zero after it.
    package func left(at now: Timestamp) -> Duration { notAfter - now }
}

/// When a certificate's standing is reported: at the first look if it is not good, whenever it changes, and once a day while
/// it is not good.
package struct CertificateReminder: Sendable {
    package static let interval = Duration.seconds(86_400)

    package let term: CertificateTerm
    private var reported: (standing: CertificateTerm.Standing, at: Timestamp)?

    package init(_ term: CertificateTerm) {
        self.term = term
    }

    /// - Returns: the standing to report now; nil: nothing. A good standing is reported only after one that was not good.
    package mutating func look(at now: Timestamp) -> CertificateTerm.Standing? {
        let standing = term.standing(at: now)
        let isNew = standing != (reported?.standing ?? .good)
        // A clock that is set back must not silence it.
        let isDue = reported.map { now >= $0.at + Self.interval || now < $0.at } ?? true
        guard isNew || standing != .good && isDue else { return nil }
        reported = (standing, now)
        return standing
    }
}
