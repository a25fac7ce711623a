// SPDX-License-Identifier: Apache-2.0
import RelayAPI

extension Route {
    /// The statuses of the problems that follow from its form.
    var problems: [Int] {
        // Every route refuses an unknown parameter, a target or a head that is too long, and a target that is no path in
        // percent-encoded UTF-8.
        var statuses = [400, 414, 422, 431]
        if path.contains("{") { statuses.append(404) }
        switch answer {
        case .body, .signed: statuses.append(413)
        case .head, .form, .stream: break
        }
        // A body in a content coding is refused, too.
        if answer.takesBody { statuses.append(415) }
        switch right {
        case .nothing: break
        case .signature: statuses.append(401)
        case .scope, .signedIn, .operatorOnly: statuses += [401, 403]
        }
        // The facts that were shown before an act may have changed since.
        if act != nil { statuses.append(409) }
        return statuses
    }
}
