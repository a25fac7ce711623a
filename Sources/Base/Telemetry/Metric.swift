// SPDX-License-Identifier: Apache-2.0
import CTexts

/// Every metric of the daemon, by its name in `/metrics`, in the dashboard and in the alerts. The unit is in the
/// name: `_seconds`, `_bytes` ("Prometheus: Metric and label naming"). They are described in etc/prometheus/METRICS.md, whose
/// table is part of the program: a test checks that it has a row for each of these.
package enum Metric: String, Sendable, CaseIterable {
    // MARK: Campaigns

    case campaignsByState = "upgrade_relay_campaigns"
    case devices = "upgrade_relay_devices"
    case pending = "upgrade_relay_pushes_pending"
    case outsideHours = "upgrade_relay_campaigns_outside_hours"
    case hoursOpen = "upgrade_relay_hours_open_timestamp_seconds"
    case retriesWaiting = "upgrade_relay_retries_waiting"
    case oldestCampaign = "upgrade_relay_oldest_running_campaign_start_timestamp_seconds"
    case credentialSuspended = "upgrade_relay_credential_suspended"
    case certificateLeft = "upgrade_relay_push_certificate_seconds_left"
    case pushesCancelled = "upgrade_relay_pushes_cancelled"
    case devicesToUpgrade = "upgrade_relay_devices_to_upgrade"
    case devicesUpgraded = "upgrade_relay_devices_upgraded"
    case devicesTold = "upgrade_relay_devices_told_at_login"
    case devicesSeen = "upgrade_relay_devices_seen_lately"
    case devicesSeenBelow = "upgrade_relay_devices_seen_lately_below_required"
    case retirableVersion = "upgrade_relay_retirable_version_info"
    case watcherLook = "upgrade_relay_watcher_last_look_timestamp_seconds"
    case versionInfo = "upgrade_relay_version_info"
    case requirementWaiting = "upgrade_relay_requirement_waiting_since_timestamp_seconds"

    // MARK: Pushes

    case outcomes = "upgrade_relay_push_outcomes_total"
    case rejections = "upgrade_relay_push_rejections_total"
    case retries = "upgrade_relay_push_retries_total"
    case filtered = "upgrade_relay_devices_filtered_total"
    case inFlight = "upgrade_relay_pushes_in_flight"
    case reachable = "upgrade_relay_push_service_reachable"
    case held = "upgrade_relay_push_service_held"
    case waits = "upgrade_relay_push_service_waits"
    case rateLimit = "upgrade_relay_push_rate_limit_per_second"
    case tokensSigned = "upgrade_relay_provider_tokens_signed_total"

    // MARK: Connections

    case requestsSent = "upgrade_relay_http2_requests_sent_total"
    case resends = "upgrade_relay_http2_resends_total"
    case streams = "upgrade_relay_http2_streams_open"
    case connectionsOpen = "upgrade_relay_http2_connections_open"
    case dials = "upgrade_relay_http2_connections_dialed_total"
    case dialFailures = "upgrade_relay_http2_dial_failures_total"
    case retirements = "upgrade_relay_http2_connections_retired_total"
    case goAways = "upgrade_relay_http2_goaways_total"
    case latency = "upgrade_relay_push_latency_seconds"

    // MARK: Store

    case commits = "upgrade_relay_store_commit_duration_seconds"
    case storeErrors = "upgrade_relay_store_errors_total"
    case storeWentBack = "upgrade_relay_store_went_back"
    case databaseBytes = "upgrade_relay_store_database_bytes"
    case logBytes = "upgrade_relay_store_wal_bytes"
    case freeBytes = "upgrade_relay_store_filesystem_free_bytes"
    case storeTaking = "upgrade_relay_store_taking_outcomes"

    // MARK: Sources

    case sourceFailing = "upgrade_relay_source_failing"
    case sourceFailures = "upgrade_relay_source_failures_total"
    case sourceSuccess = "upgrade_relay_source_last_success_timestamp_seconds"

    // MARK: Requests

    case requestsAnswered = "upgrade_relay_api_requests_total"
    case requestDuration = "upgrade_relay_api_request_duration_seconds"
    case webhooks = "upgrade_relay_webhooks_received_total"
    case enforced = "upgrade_relay_enforce_answers_total"

    // MARK: Webhooks out

    case notificationAttempts = "upgrade_relay_notification_attempts_total"
    case notificationsPending = "upgrade_relay_notifications_pending"
    case oldestNotification = "upgrade_relay_oldest_pending_notification_timestamp_seconds"
    case receiverGone = "upgrade_relay_notification_receiver_gone"

    // MARK: Several relays

    case relaysAlive = "upgrade_relay_relays_alive"
    case leads = "upgrade_relay_leader"
    case campaignsOwned = "upgrade_relay_campaigns_owned"
    case campaignsUnclaimed = "upgrade_relay_campaigns_unclaimed"
    case fencings = "upgrade_relay_fencings_total"
    case leaseLeft = "upgrade_relay_lease_seconds_left"
    case clockAhead = "upgrade_relay_database_clock_ahead_seconds"

    // MARK: The daemon

    case buildInfo = "upgrade_relay_build_info"
    case logLines = "upgrade_relay_log_lines_total"
    case reloadTaken = "upgrade_relay_config_last_reload_successful"
    case configurationRead = "upgrade_relay_config_read_timestamp_seconds"
    case cpu = "process_cpu_seconds_total"
    case residentMemory = "process_resident_memory_bytes"
    case virtualMemory = "process_virtual_memory_bytes"
    case openDescriptors = "process_open_fds"
    case maximumDescriptors = "process_max_fds"
    case startTime = "process_start_time_seconds"

    package enum Kind: String, Sendable {
        /// Only rises, and begins at zero with the process. Ends in `_total`.
        case counter
        case gauge
        /// Seconds, in the buckets of `LatencyHistogram`.
        case histogram
    }

    package var name: String { rawValue }
    package var kind: Kind { row.kind }
    package var help: String { row.help }
    /// Each has few values by nature: never a token, a telephone or a campaign.
    package var labels: [String] { row.labels }
    package var scope: Scope { row.scope }

    /// How the values of several relays on one store relate.
    package enum Scope: String, Sendable {
        /// Each relay has its own: they are summed.
        case relay
        /// Each relay shows the same: one is taken, `max without (instance)`.
        case store
    }

    /// A metric's row in the table.
    package struct Row: Sendable {
        package let kind: Kind
        package let labels: [String]
        package let scope: Scope
        package let help: String
    }

    private var row: Row {
        guard let row = Self.table[name] else { preconditionFailure("METRICS.md has no row for \(name)") }
        return row
    }

    /// By name.
    package static let table: [String: Row] = {
        let rows = unsafe String(cString: relay_metrics()).split(separator: "\n").compactMap { line -> (String, Row)? in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map { cell in
                cell.split(separator: " ").map { $0.filter { $0 != "`" } }
            }
            guard cells.count == 7, let name = cells[1].first, let kind = cells[2].first.flatMap(Kind.init),
                let scope = cells[4].first.flatMap(Scope.init)
            else { return nil }
            return (name, Row(kind: kind, labels: cells[3], scope: scope, help: cells[5].joined(separator: " ")))
        }
        return Dictionary(uniqueKeysWithValues: rows)
    }()
}
