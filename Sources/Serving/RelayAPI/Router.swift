// SPDX-License-Identifier: Apache-2.0
import UpgradeRules

/// Finds the route for a method and a path. Pure.
struct Router: Sendable {
    enum Result {
        case route(Route, PathValues)
        case notFound
        case unknownPlatform(String)
        /// The path exists, but not for this method.
        case wrongMethod(among: [Route])
    }

    /// The routes of the API alone.
    static let api = Router(Route.all)

    func route(method: String, segments: [String]) -> Result {
        guard paths.indices.contains(segments.count) else { return .notFound }
        var unknownPlatform: String?
        for path in paths[segments.count] {
            switch path.match(segments) {
            case .no: continue
            case .butForPlatform(let name): unknownPlatform = name
            case .yes(let values):
                // RFC 9110 section 9.3.2: HEAD is GET without the content.
                let method = method == "HEAD" ? "GET" : method
                if let route = path.routes.first(where: { $0.method == method || $0.isForProxies }) {
                    return .route(route, values)
                }
                return .wrongMethod(among: path.routes)
            }
        }
        return unknownPlatform.map(Result.unknownPlatform) ?? .notFound
    }

    /// The methods that these routes of one path take, for the field `Allow` (RFC 9110, section 10.2.1).
    static func allowed(_ routes: [Route]) -> String {
        let methods = routes.map(\.method)
        return Set(methods + (methods.contains("GET") ? ["HEAD"] : []) + ["OPTIONS"]).sorted().joined(separator: ", ")
    }

    /// All paths, by the number of their segments, so that few have to be compared.
    private let paths: [[Path]]

    init(_ routes: [Route]) {
        var paths: [[Path]] = []
        for route in routes {
            let segments = route.path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map {
                Segment(String($0))
            }
            while paths.count <= segments.count { paths.append([]) }
            if let place = paths[segments.count].firstIndex(where: { $0.segments == segments }) {
                paths[segments.count][place].routes.append(route)
            } else {
                paths[segments.count].append(Path(segments: segments, routes: [route]))
            }
        }
        self.paths = paths
    }

    private enum Segment: Hashable, Sendable {
        case literal(String)
        case app
        case platform
        case name

        init(_ text: String) {
            switch text {
            case "{app}": self = .app
            case "{platform}": self = .platform
            case "{id}", "{name}", "{token}": self = .name
            default: self = .literal(text)
            }
        }
    }

    private enum Match {
        case no
        /// It matches, except that there is no such platform.
        case butForPlatform(String)
        case yes(PathValues)
    }

    private struct Path: Sendable {
        let segments: [Segment]
        var routes: [Route]

        func match(_ texts: [String]) -> Match {
            var values = PathValues()
            var unknownPlatform: String?
            for (segment, text) in zip(segments, texts) {
                switch segment {
                case .literal(let word): if text != word { return .no }
                case .app where !text.isEmpty: values.app = text
                case .name where !text.isEmpty: values.name = text
                case .platform where !text.isEmpty:
                    if let platform = Platform(rawValue: text) {
                        values.platform = platform
                    } else {
                        unknownPlatform = text
                    }
                case .app, .name, .platform: return .no
                }
            }
            return unknownPlatform.map(Match.butForPlatform) ?? .yes(values)
        }
    }
}
