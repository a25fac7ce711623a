// SPDX-License-Identifier: Apache-2.0

/// What the sources ask the world outside: the network and the disk, and nothing that decides. Each call blocks until its
/// answer is there. A simulation answers in its place.
package protocol SourceQuestions: Sendable {
    /// The App Store's lookup; nil where the storefront does not list the app.
    func lookup(_ key: LookupKey, in source: AppStoreSource) -> Result<AppStoreEntry?, SourceFault>

    /// App Store Connect; what it says of the key's budget comes also with a fault.
    func connect(
        _ question: AppStoreConnectMachine.Question, _ source: AppStoreConnectSource
    ) -> (answer: Result<AppStoreConnectMachine.Answer, SourceFault>, rate: AppStoreConnectRate?)

    /// A LaunchGate file on a web server.
    func document(
        _ source: LaunchGateURLSource, since validators: SourceDocument.Validators
    ) throws(SourceFault) -> SourceDocument

    /// A LaunchGate file on the disk.
    func file(_ path: String) throws(SourceFault) -> [UInt8]

    /// Google Play's list of releases; empty where nothing was ever released on the track.
    func releases(of source: GooglePlaySource) -> Result<[GooglePlaySummary], SourceFault>

    /// The track as an edit shows it. The edit is opened and deleted.
    ///
    /// - Returns: also the edit, where it could not be deleted.
    func rollouts(of source: GooglePlaySource) -> (answer: Result<[GooglePlayRollout], SourceFault>, leftover: String?)

    /// Deletes an edit that was left over.
    ///
    /// - Returns: whether it is gone.
    func discard(_ edit: String, of source: GooglePlaySource) -> Bool

    /// These are the sources now: credentials of others are forgotten.
    func keep(_ sources: [VersionSource])
}
