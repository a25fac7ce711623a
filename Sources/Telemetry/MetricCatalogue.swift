// SPDX-License-Identifier: Apache-2.0

/// Every metric of the daemon. What `/metrics` shows, the dashboard, the alerts and the table in etc/prometheus/METRICS.md
/// all name metrics from here, and tests hold them to it.
package enum MetricCatalogue {
    package static let all: [Metric] =
        campaigns + pushes + connections + store + sources + requests + notifications + daemon

    // MARK: Campaigns

    package static let campaignsByState = Metric(
        .gauge, "upgrade_relay_campaigns", ["app", "platform", "state"],
        "Campaigns in the store by state.")
    package static let devices = Metric(
        .gauge, "upgrade_relay_devices", ["app", "platform"], "Registered devices.")
    package static let pending = Metric(
        .gauge, "upgrade_relay_pushes_pending", ["app", "platform"],
        "Devices of running campaigns that were not tried yet, without those in flight and those of later waves.")
    package static let retriesWaiting = Metric(
        .gauge, "upgrade_relay_retries_waiting", ["app", "platform"],
        "Pushes of running campaigns that wait for a retry.")
    package static let oldestCampaign = Metric(
        .gauge, "upgrade_relay_oldest_running_campaign_start_timestamp_seconds", ["app", "platform"],
        "When the oldest running campaign began; absent while none runs.")
    package static let credentialSuspended = Metric(
        .gauge, "upgrade_relay_credential_suspended", ["app", "platform"],
        "1 while a campaign is suspended because the push service refuses the credential or its environment, else 0.")
    package static let certificateLeft = Metric(
        .gauge, "upgrade_relay_push_certificate_seconds_left", ["app", "platform"],
        "Seconds until the certificate ends that the app's pushes need, below 0 after it; absent where a key signs.")
    package static let pushesCancelled = Metric(
        .gauge, "upgrade_relay_pushes_cancelled", ["app", "platform", "state"],
        "Devices that got no push because their campaign was cancelled or superseded.")
    package static let devicesToUpgrade = Metric(
        .gauge, "upgrade_relay_devices_to_upgrade", ["app", "platform"],
        "Devices that were not found to be current already, of the audience of the newest campaign that has started.")
    package static let devicesUpgraded = Metric(
        .gauge, "upgrade_relay_devices_upgraded", ["app", "platform", "reached"],
        "Of these, since seen with a version that meets the requirement, by what had reached them: push, login, both or "
            + "unknown.")
    package static let devicesTold = Metric(
        .gauge, "upgrade_relay_devices_told_at_login", ["app", "platform"],
        "Registered devices that were told at login to meet the requirement of the newest campaign that has started.")
    package static let watcherLook = Metric(
        .gauge, "upgrade_relay_watcher_last_look_timestamp_seconds",
        "When the store's required versions were last compared with its campaigns.")

    package static let versionInfo = Metric(
        .gauge, "upgrade_relay_version_info", ["app", "platform", "required", "in_force", "announced"],
        "Always 1: which version is required, which requirement is in force, and which version users are told of.")
    package static let requirementWaiting = Metric(
        .gauge, "upgrade_relay_requirement_waiting_since_timestamp_seconds", ["app", "platform"],
        "When the requirement was asked for that is not in force yet; absent while none waits.")

    static let campaigns = [
        campaignsByState, devices, pending, retriesWaiting, oldestCampaign, credentialSuspended, certificateLeft,
        pushesCancelled, devicesToUpgrade, devicesUpgraded, devicesTold, watcherLook, versionInfo,
        requirementWaiting,
    ]

    // MARK: Pushes

    package static let outcomes = Metric(
        .counter, "upgrade_relay_push_outcomes_total", ["app", "platform", "outcome"],
        "Devices whose final outcome was recorded: accepted, rejected, unregistered, expired or filtered.")
    package static let rejections = Metric(
        .counter, "upgrade_relay_push_rejections_total", ["app", "platform", "reason"],
        "Pushes refused for good, by the push service's reason; unknown reasons are \"other\".")
    package static let retries = Metric(
        .counter, "upgrade_relay_push_retries_total", ["app", "platform", "cause"],
        "Retries scheduled, by cause: the service's reason, ConnectionLost, StreamRefused, NoConnection or NotSent.")
    package static let filtered = Metric(
        .counter, "upgrade_relay_devices_filtered_total", ["app", "platform", "reason"],
        "Devices that got no push, by reason.")
    package static let inFlight = Metric(
        .gauge, "upgrade_relay_pushes_in_flight", ["app", "platform"],
        "Pushes handed to the lanes whose outcome is not recorded yet.")
    package static let reachable = Metric(
        .gauge, "upgrade_relay_push_service_reachable", ["app", "platform", "environment"],
        "1 while the push service accepts connections and answers, or was not tried, else 0.")
    package static let held = Metric(
        .gauge, "upgrade_relay_push_service_held", ["app", "platform", "environment"],
        "1 while sending is paused because the push service answers 5xx to nearly every push (an outage), else 0.")
    package static let waits = Metric(
        .gauge, "upgrade_relay_push_service_waits", ["app", "platform", "environment", "cause"],
        "1 while nothing is sent to the push service for this cause, else 0: keyPause, stopped, unreachable, outage, credential, "
            + "quota or quarterHour.")
    package static let rateLimit = Metric(
        .gauge, "upgrade_relay_push_rate_limit_per_second", ["app", "platform"],
        "Pushes per second that the app's pace allows now, ramp included; absent without a pace.")
    package static let tokensSigned = Metric(
        .counter, "upgrade_relay_provider_tokens_signed_total", "Provider tokens that were signed.")

    static let pushes = [
        outcomes, rejections, retries, filtered, inFlight, reachable, held, waits, rateLimit, tokensSigned,
    ]

    // MARK: Connections

    package static let requestsSent = Metric(
        .counter, "upgrade_relay_http2_requests_sent_total", ["lane"],
        "Requests put on a connection to a push service, requeued ones included.")
    package static let resends = Metric(
        .counter, "upgrade_relay_http2_resends_total", ["lane"],
        "Requests that were requeued at once for another connection.")
    package static let streams = Metric(
        .gauge, "upgrade_relay_http2_streams_open", ["lane"], "Requests on a connection without an answer yet.")
    package static let connectionsOpen = Metric(
        .gauge, "upgrade_relay_http2_connections_open", ["lane"], "Connections to push services.")
    package static let dials = Metric(
        .counter, "upgrade_relay_http2_connections_dialed_total", ["lane"], "Attempts to open a connection.")
    package static let dialFailures = Metric(
        .counter, "upgrade_relay_http2_dial_failures_total", ["lane"], "Attempts to open a connection that failed.")
    package static let retirements = Metric(
        .counter, "upgrade_relay_http2_connections_retired_total", ["lane", "reason"],
        "Connections that were retired (nothing new is sent on them), by reason.")
    package static let goAways = Metric(
        .counter, "upgrade_relay_http2_goaways_total", ["lane", "code"],
        "GOAWAY frames of push services by error code (RFC 9113, 7).")
    package static let latency = Metric(
        .histogram, "upgrade_relay_push_latency_seconds", ["lane"],
        "From putting a request on a connection to its answer.")

    static let connections = [
        requestsSent, resends, streams, connectionsOpen, dials, dialFailures, retirements, goAways, latency,
    ]

    // MARK: Store

    package static let commits = Metric(
        .histogram, "upgrade_relay_store_commit_duration_seconds",
        "Transactions of the store's writer, from their beginning until they are on the disk.")
    package static let storeErrors = Metric(
        .counter, "upgrade_relay_store_errors_total", ["code"],
        "Calls that the store refused: full, readOnly, busy, tooNew, conflict or failed.")
    package static let databaseBytes = Metric(
        .gauge, "upgrade_relay_store_database_bytes", "Size of the database file.")
    package static let logBytes = Metric(
        .gauge, "upgrade_relay_store_wal_bytes", "Size of the write-ahead log beside the database.")
    package static let freeBytes = Metric(
        .gauge, "upgrade_relay_store_filesystem_free_bytes", "Free space for the daemon on the store's file system.")
    package static let storeTaking = Metric(
        .gauge, "upgrade_relay_store_taking_outcomes", "0 while the store refuses outcomes, else 1.")

    static let store = [commits, storeErrors, databaseBytes, logBytes, freeBytes, storeTaking]

    // MARK: Sources

    package static let sourceFailing = Metric(
        .gauge, "upgrade_relay_source_failing", ["app", "platform", "source"],
        "1 while a source of versions fails, else 0.")
    package static let sourceFailures = Metric(
        .counter, "upgrade_relay_source_failures_total", ["app", "platform", "source"],
        "Looks at a source of versions that failed.")
    package static let sourceSuccess = Metric(
        .gauge, "upgrade_relay_source_last_success_timestamp_seconds", ["app", "platform", "source"],
        "When a source of versions was last read; absent before the first time.")

    static let sources = [sourceFailing, sourceFailures, sourceSuccess]

    // MARK: Requests

    package static let requestsAnswered = Metric(
        .counter, "upgrade_relay_api_requests_total", ["method", "route", "status"],
        "Requests to the API by route and class of status; what has no route is \"none\".")
    package static let requestDuration = Metric(
        .histogram, "upgrade_relay_api_request_duration_seconds", ["method", "route"],
        "From a request's head to its answer; of a streamed answer to its beginning.")
    package static let webhooks = Metric(
        .counter, "upgrade_relay_webhooks_received_total", ["kind", "result"],
        "Webhooks by result: accepted, replayed, unauthorized, invalid, conflict, tooLarge or failed.")

    package static let enforced = Metric(
        .counter, "upgrade_relay_enforce_answers_total", ["app", "platform", "outcome"],
        "Answers to reverse proxies: passed, denied, or unknown (passed or denied as enforce.unknown says); an app that is "
            + "not configured is \"none\".")

    static let requests = [requestsAnswered, requestDuration, webhooks, enforced]

    // MARK: Webhooks out

    package static let notificationAttempts = Metric(
        .counter, "upgrade_relay_notification_attempts_total", ["receiver", "result"],
        "Attempts to notify, by the receiver's host and the result: delivered, retried, failed (for the last time) "
            + "or gone (410).")
    package static let notificationsPending = Metric(
        .gauge, "upgrade_relay_notifications_pending", ["receiver"],
        "Notifications that the receiver has not accepted yet.")
    package static let oldestNotification = Metric(
        .gauge, "upgrade_relay_oldest_pending_notification_timestamp_seconds", ["receiver"],
        "When the oldest pending notification was made; absent while none is pending.")
    package static let receiverGone = Metric(
        .gauge, "upgrade_relay_notification_receiver_gone", ["receiver"],
        "1 while a receiver is switched off because it answered 410, else 0.")

    static let notifications = [notificationAttempts, notificationsPending, oldestNotification, receiverGone]

    // MARK: The daemon

    package static let buildInfo = Metric(
        .gauge, "upgrade_relay_build_info", ["version"], "Always 1; the label has the release.")
    package static let logLines = Metric(
        .counter, "upgrade_relay_log_lines_total", ["level"], "Lines written to the log.")
    package static let reloadTaken = Metric(
        .gauge, "upgrade_relay_config_last_reload_successful",
        "0 from a reload that was refused until one is taken, else 1.")
    package static let configurationRead = Metric(
        .gauge, "upgrade_relay_config_read_timestamp_seconds", "When the configuration in use was read.")
    package static let cpu = Metric(
        .counter, "process_cpu_seconds_total", "User and system time of the process.")
    package static let residentMemory = Metric(
        .gauge, "process_resident_memory_bytes", "Resident memory of the process.")
    package static let virtualMemory = Metric(
        .gauge, "process_virtual_memory_bytes", "Virtual memory of the process.")
    package static let openDescriptors = Metric(.gauge, "process_open_fds", "Open file descriptors.")
    package static let maximumDescriptors = Metric(
        .gauge, "process_max_fds", "File descriptors that the process may open at most.")
    package static let startTime = Metric(
        .gauge, "process_start_time_seconds", "When the process began, since 1970.")

    static let daemon = [
        buildInfo, logLines, reloadTaken, configurationRead, cpu, residentMemory, virtualMemory, openDescriptors,
        maximumDescriptors, startTime,
    ]

    // MARK: Documentation

    /// etc/prometheus/METRICS.md, which a test compares.
    package static var page: String {
        let rows = all.map { metric in
            let labels = metric.labels.map { "`\($0)`" }.joined(separator: " ")
            return "| `\(metric.name)` | \(metric.kind.rawValue) | \(labels) | \(metric.help) |"
        }
        let head = [
            "# What /metrics shows", "",
            "Written by `upgrade-relay generate metrics`. Counters start at zero with the process; histograms have the buckets",
            "0.0005 s, doubled up to 32.768 s. No label ever contains a token, a phone number or a campaign.", "",
            "| metric | type | labels | meaning |", "|---|---|---|---|",
        ]
        return (head + rows).joined(separator: "\n") + "\n"
    }
}
