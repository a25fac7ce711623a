// SPDX-License-Identifier: Apache-2.0

/// The sources' access to the network and the disk; it decides nothing. Each call blocks until its answer is there. A
/// simulation answers in its place.
package protocol SourceQuestions: Sendable {
    /// The App Store's lookup; nil where the storefront does not list the app.
    func lookup(_ key: LookupKey, in source: AppStoreSource) -> Result<AppStoreEntry?, SourceFault>

    /// App Store Connect; the key's budget is returned with a fault too.
    func connect(
        _ question: AppStoreConnectMachine.Question, _ source: AppStoreConnectSource
    ) -> (answer: Result<AppStoreConnectMachine.Answer, SourceFault>, rate: AppStoreConnectRate?)

    /// A LaunchGate file on a web server.
    func document(
        _ source: LaunchGateURLSource, since validators: SourceDocument.Validators
    ) throws(SourceFault) -> SourceDocument

    /// A LaunchGate file on the disk.
    func file(_ path: String) throws(SourceFault) -> [UInt8]

    /// Google Play's list of releases; empty where the track never had one.
    func releases(of source: GooglePlaySource) -> Result<[GooglePlaySummary], SourceFault>

    /// The track as an edit shows it. The edit is opened and deleted.
    ///
    /// - Returns: also the edit, where it could not be deleted.
    func rollouts(of source: GooglePlaySource) -> (answer: Result<[GooglePlayRollout], SourceFault>, leftover: String?)

    /// Deletes an edit that was left over.
    ///
    /// - Returns: whether it is gone.
    func discard(_ edit: String, of source: GooglePlaySource) -> Bool

    /// Forgets the credentials of all sources but these.
    func keep(_ sources: [VersionSource])
}
