// SPDX-License-Identifier: Apache-2.0
import Testing
import UpgradeRules

@Suite("The force policy")
struct ForcePolicyTests {
    struct Step: Sendable, CustomTestStringConvertible {
        var old: String
        var new: String
        /// The policies under which the step is forced.
        var forced: Set<ForcePolicy>

        init(_ old: String, _ new: String, _ forced: Set<ForcePolicy>) {
            // A rise that some policy forces is forced by `every`, too.
            (self.old, self.new, self.forced) = (old, new, forced.isEmpty ? [] : forced.union([.every]))
        }

        var testDescription: String { "\(old) to \(new)" }
    }

    static let steps: [Step] = [
        // The author's own three.
        Step("1.0.0", "1.0.1", [.patch]),
        Step("1.0.0", "1.1.0", [.minor, .patch]),
        Step("1.0.0", "2.0.0", [.major, .minor, .patch]),
        // Pieces are numbers, not strings: "10" > "9".
        Step("1.9.0", "1.10.0", [.minor, .patch]),
        Step("9.0", "10.0", [.major, .minor, .patch]),
        Step("1.0.9", "1.0.10", [.patch]),
        Step("1.10.0", "1.9.0", []),
        // A fallen first number never forces, whatever comes after it; nor a fallen second one.
        Step("2.0.0", "1.9.0", []),
        Step("2.0.0", "1.9.9", []),
        Step("1.2.0", "1.1.9", []),
        // The first difference decides: what falls after it does not count.
        Step("1.9.9", "2.0.0", [.major, .minor, .patch]),
        Step("1.1.9", "1.2.0", [.minor, .patch]),
        // Missing numbers are 0, leading zeros mean nothing.
        Step("2.0", "2.0.0", []),
        Step("1.01", "1.1", []),
        Step("1", "1.0.1", [.patch]),
        Step("1", "1.1", [.minor, .patch]),
        Step("1.1", "2", [.major, .minor, .patch]),
        // No step forces a user, and a step of the fourth number only where every step does.
        Step("1.2.3", "1.2.3", []),
        Step("1.2.3", "1.2.3.1", [.every]),
        Step("1.2.3.1", "1.2.3", []),
        Step("1.2.3.9", "1.2.4", [.patch]),
    ]

    @Test("a step is forced by the first number that differs", arguments: steps)
    func step(_ step: Step) throws {
        let (old, new) = (try Version(step.old), try Version(step.new))
        for policy in ForcePolicy.allCases {
            #expect(policy.forces(from: old, to: new) == step.forced.contains(policy), "\(policy)")
            let derived = policy.required(latest: new, previousLatest: old, previousRequired: nil)
            #expect(derived?.text == (step.forced.contains(policy) ? step.new : nil), "\(policy)")
        }
    }

    @Test("the first version ever stored forces nobody")
    func first() throws {
        for policy in ForcePolicy.allCases {
            #expect(try policy.required(latest: Version("3.0"), previousLatest: nil, previousRequired: nil) == nil)
        }
    }

    @Test("the newer of latest and required is what a rise is measured by")
    func base() throws {
        let policy = ForcePolicy.minor
        let (one, two, patch) = (try Version("1.0.0"), try Version("2.0.0"), try Version("2.0.1"))
        #expect(policy.required(latest: patch, previousLatest: one, previousRequired: two) == nil)
        #expect(policy.required(latest: patch, previousLatest: two, previousRequired: one) == nil)
        #expect(policy.required(latest: two, previousLatest: nil, previousRequired: one) == two)
    }
}
