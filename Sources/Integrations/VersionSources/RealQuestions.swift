// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Threading

/// Asks the real stores, web servers and files.
final class RealQuestions: SourceQuestions {
    private let client: SourceClient
    private let connectTokens = AppStoreConnectTokens()
    private let googleTokens = GoogleTokens()

    init(clock: @escaping @Sendable () -> Timestamp, isStopping: @escaping @Sendable () -> Bool) {
        client = SourceClient(clock: clock, isStopping: isStopping)
    }

    func lookup(_ key: LookupKey, in source: AppStoreSource) -> Result<AppStoreEntry?, SourceFault> {
        client.lookup(key, in: source)
    }

    func connect(
        _ question: AppStoreConnectMachine.Question, _ source: AppStoreConnectSource
    ) -> (answer: Result<AppStoreConnectMachine.Answer, SourceFault>, rate: AppStoreConnectRate?) {
        client.connect(question, source, connectTokens)
    }

    func document(
        _ source: LaunchGateURLSource, since validators: SourceDocument.Validators
    ) throws(SourceFault) -> SourceDocument {
        try client.document(source, since: validators)
    }

    func file(_ path: String) throws(SourceFault) -> [UInt8] {
        do {
            return try WholeFile.read(path, limit: LaunchGateReading.maximumSize)
        } catch {
            throw SourceFault("the file \(path): \(error)")
        }
    }

    // MARK: Google Play

    func releases(of source: GooglePlaySource) -> Result<[GooglePlaySummary], SourceFault> {
        withToken(of: source) { client in Result(catching: client.releases) }
    }

    func rollouts(of source: GooglePlaySource) -> (answer: Result<[GooglePlayRollout], SourceFault>, leftover: String?)
    {
        var leftover: String?
        let answer = withToken(of: source) { client in
            let read = client.rollouts()
            leftover = read.leftover
            return read.answer
        }
        return (answer, leftover)
    }

    func discard(_ edit: String, of source: GooglePlaySource) -> Bool {
        let gone = withToken(of: source) { client in .success(client.discard(edit)) }
        return (try? gone.get()) ?? false
    }

    /// Exchanges a token that Google Play refuses, once.
    private func withToken<Answer>(
        of source: GooglePlaySource, _ body: (GooglePlayClient) -> Result<Answer, GooglePlayClient.Refusal>
    ) -> Result<Answer, SourceFault> {
        do throws(SourceFault) {
            for isLast in [false, true] {
                let token = try googleTokens.token(for: source, client)
                switch body(GooglePlayClient(source: source, token: token, client: client)) {
                case .success(let answer): return .success(answer)
                case .failure(.fault(let fault)): return .failure(fault)
                case .failure(.token(let fault)):
                    googleTokens.rejected(token, of: source)
                    if isLast { return .failure(fault) }
                }
            }
            throw SourceFault("Google Play takes no token")
        } catch {
            return .failure(error)
        }
    }

    // MARK: Credentials

    func keep(_ sources: [VersionSource]) {
        connectTokens.keep(
            Set(sources.compactMap { if case .appStoreConnect(let source) = $0.kind { source.key } else { nil } }))
        googleTokens.keep(sources)
    }
}
