#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Requests per second, latency, and the daemon's own CPU per request, for what apps ask at login and at launch; each beside nginx, which
# serves the same bytes from a file with as many threads, in turns.
# usage: api-load.sh BINARY [SECONDS]      needs wrk, nginx and curl; only loopback is used.
set -eu
binary=$1 seconds=${2:-5}
folder=$(mktemp -d)
daemon='' reference=''
trap 'kill $daemon $reference 2>/dev/null; wait 2>/dev/null || :; rm -rf "$folder"' EXIT
chmod 755 "$folder"
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
check="/v1/check?app=com.example.app&platform=ios&version=1.9.0"
enforce="/v1/enforce?app=com.example.app&platform=ios&version=2.0.0"
launch=/v1/apps/com.example.app/launchgate.json

# As many workers as the relay has serving threads. A port near the relay's may be taken.
workers=$(cat "/proc/$daemon"/task/*/comm | grep -c '^api [0-9]' || :)
mkdir -p "$folder/www/v1/apps/com.example.app"
for path in "$check" "$enforce" $launch; do
    curl -fsS "http://$address$path" > "$folder/www/${path%%\?*}"
done
port=${address##*:}
until [ -n "$reference" ] && kill -0 "$reference" 2>/dev/null; do
    port=$((port % 60000 + 1))
    [ "$port" -gt 1024 ] || continue
    other="127.0.0.1:$port"
    cat > "$folder/nginx.conf" <<NGINX
worker_processes $workers;
daemon off;
pid $folder/nginx.pid;
error_log $folder/nginx.log;
events { worker_connections 2048; }
http {
    access_log off;
    keepalive_requests 1000000000;
    default_type application/json;
    sendfile on;
    server { listen $other; root $folder/www; }
}
NGINX
    nginx -c "$folder/nginx.conf" &
    reference=$!
    sleep 1
done
curl -fsS -o "$folder/reference" "http://$other$launch"

# run NAME PID ADDRESS PATH CONNECTIONS: rate, p50 and p99 in µs, CPU in µs a request, into the file NAME.
ticks() { for process in $1 $(cat "/proc/$1/task/$1/children"); do awk '{ print $14 + $15 }' "/proc/$process/stat"; done | awk '{ n += $1 } END { print n }'; }
run() {
    before=$(ticks "$2")
    wrk -t 1 -c "$5" -d "${seconds}s" --latency "http://$3$4" > "$folder/wrk"
    after=$(ticks "$2")
    awk -v ticks=$((after - before)) -v hz="$(getconf CLK_TCK)" '
        function us(t) { return t ~ /us$/ ? t + 0 : t ~ /ms$/ ? t * 1000 : t * 1000000 }
        $1 == "50%" { p50 = us($2) } $1 == "99%" { p99 = us($2) } /requests in/ { n = $1 } /Requests\/sec/ { rate = $2 }
        /Non-2xx|Socket errors/ { print > "/dev/stderr" }
        END { print rate, p50, p99, ticks / hz * 1e6 / n }' "$folder/wrk" >> "$folder/$1"
}
# The better of the runs.
best() { sort -rn "$folder/$1" | head -1; rm "$folder/$1"; }
printf '%-16s %11s %8s %8s %8s %7s | %8s %8s %8s %7s | %s\n' \
    path connections req/s 'p50 µs' 'p99 µs' 'CPU µs' nginx 'p50 µs' 'p99 µs' 'CPU µs' ratio
for path in "$check" "$enforce" $launch; do
    for connections in 1 64 512; do
        for turn in 1 2; do
            run relay "$daemon" "$address" "$path" $connections
            run nginx "$reference" "$other" "$path" $connections
        done
        name=${path%%\?*}
        echo "$(best relay) $(best nginx)" | awk -v path="${name##*/}" -v c=$connections '
            { printf "%-16s %11d %8.0f %8.0f %8.0f %7.1f | %8.0f %8.0f %8.0f %7.1f | %.2f\n", path, c, $1, $2, $3, $4, $5, $6, $7, $8, $1 / $5 }'
    done
done
