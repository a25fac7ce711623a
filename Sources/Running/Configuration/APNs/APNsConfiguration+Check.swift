// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
package import Requirements
package import Signing
import UpgradeRules
import WireFormat

extension ConfigurationCheck {
    /// An app's certificate for pushes, and its topic.
    package struct AppCertificate: Sendable {
        package var app: AppKey
        package var certificate: PushCertificate
        package var topic: String
    }

    /// The keys or the certificate that an app pushes with.
    func checkAPNs(_ apns: APNsConfiguration, of app: AppKey, _ report: inout Report) {
        let field = AppConfiguration.apnsField(app)
        switch apns.credentials {
        case .keys(_, let key, let sandbox):
            checkSigningKey(key.file, "\(field).key", &report)
            if let sandbox { checkSigningKey(sandbox.file, "\(field).sandboxKey.key", &report) }
        case .certificate(let files):
            do throws(FieldFault) {
                let certificate = try files.read(at: field, environment: environment)
                // Where no key is named, the certificate's file holds it.
                for (key, place) in files.places {
                    report.noteRead(place, "\(field).\(key)", isSecret: key != "certificate" || files.key == nil)
                }
                let topic = try apns.topic(of: certificate, at: field)
                report.certificates.append(AppCertificate(app: app, certificate: certificate, topic: topic))
                if let fault = fault(of: certificate.term, files, field) { report.outOfTerm.append(fault) }
                warnOfEnd(certificate.term, files.certificate.place, "\(field).certificate", &report)
            } catch {
                report.faults.append(error)
            }
        }
        check(apns.egress, field, &report)
        if apns.sandboxFollowsServer, !RelayConfiguration.isLoopback("http://\(Self.name(apns.server))") {
            report.warnings.append(
                FieldFault(
                    "\(field).server",
                    "stands for the sandbox, too: development builds are pushed to at \(apns.server); name a sandboxServer, or "
                        + "use port alone for another port of Apple's"))
        }
    }

    private static func name(_ server: ServerAddress) -> String {
        server.host.contains(":") ? "[\(server.host)]" : server.host
    }

    private func fault(
        of term: CertificateTerm, _ files: APNsCertificateFiles, _ field: String
    ) -> FieldFault? {
        let place = files.certificate.place
        switch term.standing(at: now) {
        case .good, .ending: return nil
        case .notYet:
            return FieldFault(
                "\(field).certificate",
                "\(place) holds a certificate that begins at \(term.notBefore.internetTime) only; is the clock right?")
        case .ended:
            return FieldFault(
                "\(field).certificate",
                "\(place) holds a certificate that ended at \(term.notAfter.internetTime); a new one from developer.apple.com, "
                    + "Certificates, is needed")
        }
    }
}

extension AppConfiguration {
    /// The path of an app on one platform within the configuration.
    package static func field(_ app: AppKey) -> String { "apps[\"\(app.app)\"].\(app.platform.rawValue)" }

    /// The path of its `apns`.
    package static func apnsField(_ app: AppKey) -> String { "\(field(app)).apns" }
}
