// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Signing
import Threading
package import WireFormat

/// Checks every file that a valid configuration names.
package struct ConfigurationCheck: Sendable {
    package let configuration: RelayConfiguration
    package let environment: [String: String]

    /// The moment at which certificates must be valid.
    let now: Timestamp

    package init(
        configuration: RelayConfiguration, environment: [String: String],
        now: Timestamp = WallClock.now()
    ) {
        self.configuration = configuration
        self.environment = environment
        self.now = now
    }

    package struct Report: Sendable {
        package var faults: [FieldFault] = []
        /// The secrets and certificates that were read, in the order of the file: field and place.
        package var secretsRead: [(field: String, place: String)] = []
        /// The identity of the TLS server.
        package var identity: ServerIdentity?
        /// The certificates of apps that push without a signing key.
        package var certificates: [AppCertificate] = []
        /// Certificates for pushes that have ended or are not valid yet. The daemon runs nevertheless: the login check of every
        /// app needs it, and the campaigns that need such a certificate show why they wait.
        package var outOfTerm: [FieldFault] = []
        /// Settings that work but are probably mistakes.
        package var warnings: [FieldFault] = []

        mutating func noteRead(_ source: SecretSource, _ field: String, isSecret: Bool = true) {
            secretsRead.append((field, source.place))
            if isSecret, let exposure = source.exposure { warnings.append(FieldFault(field, exposure)) }
        }

        /// Warns where an account's file names a token endpoint that is not Google's: the account authenticates there.
        mutating func look(at account: GoogleAccount, from source: SecretSource, server: String, _ field: String) {
            guard !account.provesItself(toGoogleOr: server) else { return }
            warnings.append(
                FieldFault(
                    field,
                    "\(source.place): its token_uri is \(JSONValue.string(account.tokenURL).sight), which is not Google's; "
                        + "access tokens are asked for there"))
        }
    }

    package func run() -> Report {
        var report = Report()
        if configuration.store.hasUnusedPath {
            report.warnings.append(
                FieldFault("store.sqlite.path", "names a file beside store.postgres; the store is in the database"))
        }
        // SQLite keeps its WAL beside the database, so the directory must be writable too (sqlite.org/wal.html).
        if case .sqlite(let path) = configuration.store.database {
            checkDirectory(of: path, "store.sqlite.path", &report)
        }
        checkDirectory(of: configuration.listen.controlSocket, "listen.controlSocket", &report)
        checkFiles(&report)
        return report
    }

    /// Checks secrets, keys and certificates alone: the files that the daemon reads again at each reload.
    package func runFiles() -> Report {
        var report = Report()
        checkFiles(&report)
        return report
    }

    private func checkFiles(_ report: inout Report) {
        report.warnings += [configuration.listen.plainFault].compactMap(\.self) + configuration.deprecated
        check(configuration.egress, "egress", &report)
        checkEnvironment(&report)
        if case .postgres(let postgres) = configuration.store.database, let password = postgres.password {
            let field = "store.postgres.password"
            if let doubt = read(password, field, &report).flatMap(SecretText.doubt) {
                report.warnings.append(FieldFault(field, "\(password.place) \(doubt)"))
            }
        }
        if let tls = configuration.listen.tls {
            do throws(FieldFault) {
                report.identity = try tls.identity(environment: environment, now: now.seconds)
                report.noteRead(tls.certificate, "listen.tls.certificate", isSecret: tls.certificate == tls.key)
                report.noteRead(tls.key, "listen.tls.key")
                if let identity = report.identity {
                    let end = Timestamp(seconds: identity.notAfter)
                    warnOfEnd(
                        CertificateTerm(notBefore: min(now, end), notAfter: end), tls.certificate.place,
                        "listen.tls.certificate", &report)
                }
            } catch {
                report.faults.append(error)
            }
        }
        for (index, source) in configuration.webhooks.secrets.map(\.source).enumerated() {
            let field = "webhooks.secrets[\(index)]"
            guard let secret = read(source, field, &report) else { continue }
            if let problem = Self.webhookSecretProblem(secret) {
                report.faults.append(FieldFault(field, "\(source.place) \(problem)"))
            }
        }
        for (index, receiver) in configuration.notify.enumerated() {
            let field = "notify[\(index)]"
            if let source = receiver.secret, let secret = read(source, "\(field).secret", &report),
                let problem = Self.webhookSecretProblem(secret)
            {
                report.faults.append(FieldFault("\(field).secret", "\(source.place) \(problem)"))
            }
            check(receiver.egress, field, &report)
        }
        for app in configuration.apps {
            checkSources(of: app, &report)
            app.checkProviders(by: self, &report)
        }
    }

    /// Warns of a certificate that ends within a month: it is valid today, but a person must make the next one.
    func warnOfEnd(_ term: CertificateTerm, _ place: String, _ field: String, _ report: inout Report) {
        guard term.standing(at: now) == .ending else { return }
        let days = term.left(at: now).components.seconds / 86_400
        report.warnings.append(
            FieldFault(
                field,
                "\(place) holds a certificate that ends in \(days) \(days == 1 ? "day" : "days"), at \(term.notAfter.internetTime); have "
                    + "the next one made"))
    }

    func read(_ source: SecretSource, _ field: String, _ report: inout Report) -> [UInt8]? {
        do throws(FieldFault) {
            let secret = try source.read(at: field, environment: environment)
            report.noteRead(source, field)
            return secret
        } catch {
            report.faults.append(error)
            return nil
        }
    }

    private func check(
        _ source: SecretSource, _ field: String, _ report: inout Report, _ use: ([UInt8], inout Report) throws -> Void
    ) {
        guard let secret = read(source, field, &report) else { return }
        do {
            try use(secret, &report)
        } catch {
            report.faults.append(FieldFault(field, "\(source.place): \(error)"))
        }
    }

    /// Checks one of Apple's .p8 files.
    func checkSigningKey(_ source: SecretSource, _ field: String, _ report: inout Report) {
        check(source, field, &report) { pem, _ in _ = try ES256PrivateKey(pem: pem) }
    }

    /// Checks a service account's key file.
    func checkAccount(_ source: SecretSource, server: String, _ field: String, _ report: inout Report) {
        check(source, field, &report) { bytes, report in
            report.look(at: try GoogleAccount(keyFile: bytes), from: source, server: server, field)
        }
    }

    private func checkDirectory(of file: String, _ field: String, _ report: inout Report) {
        let directory = FileProbe.directory(of: file)
        guard let fault = FileProbe.directoryFault(directory) else { return }
        report.faults.append(FieldFault(field, "the directory \(directory) \(fault)"))
    }

    func checkCertificates(_ path: String, _ field: String, _ report: inout Report) {
        do throws(FileProbe.Failure) {
            guard let (reason, someAreFound) = PEMText.authoritiesFault(try FileProbe.read(path, limit: 16 << 20))
            else {
                return
            }
            let fault = FieldFault(field, "the file \(path) \(reason)")
            // The certificate that matters may be among those found.
            if someAreFound { report.warnings.append(fault) } else { report.faults.append(fault) }
        } catch {
            report.faults.append(FieldFault(field, "the file \(path) \(error)"))
        }
    }

    /// The fault of a webhook secret, as the code that verifies signatures finds it; nil: none.
    package static func webhookSecretProblem(_ secret: [UInt8]) -> String? {
        do throws(SigningError) {
            let size = try WebhookSecret(secret).standardSize
            return size.map { (24...64).contains($0) } ?? true
                ? nil : "holds \(size ?? 0) bytes after whsec_; 24 to 64 are right"
        } catch {
            return "\(error)"
        }
    }
}
