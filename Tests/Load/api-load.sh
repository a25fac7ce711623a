#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Requests per second, latency, and the daemon's own CPU per request, for what apps ask at login and at launch.
# usage: api-load.sh BINARY [SECONDS]      needs wrk and curl; only loopback is used.
set -eu
binary=$1 seconds=${2:-5}
folder=$(mktemp -d)
trap 'kill "$daemon" 2>/dev/null; wait "$daemon" 2>/dev/null || :; rm -rf "$folder"' EXIT
cat > "$folder/config.json5" <<JSON5
{
  store: { sqlite: { path: "$folder/relay.db" } },
  listen: { address: "127.0.0.1:0", controlSocket: "$folder/control.sock" },
  apps: { "com.example.app": { ios: { downloadUrl: "https://apps.apple.com/app/id1", apns: null } } },
}
JSON5
"$binary" serve --config "$folder/config.json5" 2> "$folder/log" &
daemon=$!
tries=0
until grep -qs ' ready ' "$folder/log"; do
    tries=$((tries + 1)); [ $tries -lt 200 ] || { cat "$folder/log"; exit 1; }
    kill -0 "$daemon" || { cat "$folder/log"; exit 1; }
    sleep 0.05
done
address=$(sed -n 's/.* listen=\([^ ]*\).*/\1/p' "$folder/log")
"$binary" version set com.example.app ios --required 2.0.0 --config "$folder/config.json5" > /dev/null
ticks() { awk '{ print $14 + $15 }' "/proc/$daemon/stat"; }
printf '%-16s %11s %10s %10s %10s %14s\n' path connections req/s p50 p99 'CPU µs/request'
for path in "/v1/check?app=com.example.app&platform=ios&version=1.9.0" \
    "/v1/enforce?app=com.example.app&platform=ios&version=2.0.0" /v1/apps/com.example.app/launchgate.json; do
    for connections in 1 64 512; do
        before=$(ticks)
        wrk -t 1 -c $connections -d "${seconds}s" --latency "http://$address$path" > "$folder/wrk"
        after=$(ticks)
        awk -v ticks=$((after - before)) -v hz="$(getconf CLK_TCK)" -v path="${path%%\?*}" -v c=$connections '
            /50%/ { p50 = $2 } /99%/ { p99 = $2 } /requests in/ { n = $1 } /Requests\/sec/ { rate = $2 }
            /Non-2xx|Socket errors/ { print }
            END { sub(".*/", "", path)
                  printf "%-16s %11d %10.0f %10s %10s %14.1f\n", path, c, rate, p50, p99, ticks / hz * 1e6 / n }' \
            "$folder/wrk"
    done
done
