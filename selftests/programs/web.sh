# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of lib.sh
# Sourced by the scripts that have to do with HTTP: an nginx with files, and
# clients that check what they get.

make_files()
{
	local i

	mkdir -p "$work/files"
	head -c 1024 /dev/urandom >"$work/files/small"
	head -c 65536 /dev/urandom >"$work/files/middle"
	head -c 20000000 /dev/urandom >"$work/files/large"
	cat "$work/files/small" "$work/files/middle" >"$work/pair"
	for ((i = 0; i < 20; i++)); do cat "$work/pair"; done >"$work/many"
}

# serve_files PORT COPYING-PORT: the files, by sendfile and by read and write
serve_files()
{
	mkdir -p "$work/temp" "$work/files/put"
	cat >"$work/nginx.conf" <<-CONF
		daemon off;
		user root;
		pid $work/temp/nginx.pid;
		error_log stderr error;
		worker_processes 2;
		events { worker_connections 512; }
		http {
			access_log off;
			root $work/files;
			client_max_body_size 100m;
			keepalive_requests 1000000;
			client_body_temp_path $work/temp/body;
			proxy_temp_path $work/temp/proxy;
			fastcgi_temp_path $work/temp/fastcgi;
			uwsgi_temp_path $work/temp/uwsgi;
			scgi_temp_path $work/temp/scgi;
			tcp_nopush on;
			server {
				listen 127.0.0.1:$1;
				listen [::1]:$1;
				sendfile on;
			}
			server {
				listen 127.0.0.1:$2;
				listen [::1]:$2;
				sendfile off;
				location /put/ { dav_methods PUT; }
			}
		}
	CONF
	start nginx nginx -e stderr -c "$work/nginx.conf" -p "$work/temp"
	listening "$1" "$2"
}

# wrk_asks CONNECTIONS URL ARG...: every answer is a good one
wrk_asks()
{
	local connections=$1 url=$2 seconds

	shift 2
	# A machine that stands still for a second has answered none in the first.
	for seconds in "${SPEED_SOAK:+1}1" 10; do
		wrk -t 2 -c "$connections" -d "$seconds" --timeout 60s "$@" "$url" >"$work/wrk" 2>&1 || {
			cat "$work/wrk"
			return 1
		}
		cat "$work/wrk"
		grep -qE '^ +0 requests in' "$work/wrk" || break
	done
	! grep -E 'Socket errors|Non-2xx' "$work/wrk" && grep -qE '^ +[1-9][0-9]* requests in' "$work/wrk"
}

ask() { curl --silent --show-error --fail --max-time "$limit" "$@"; }

# same_file URL FILE ARG...
same_file()
{
	local url=$1 file=$2

	shift 2
	rm -f "$work/got"
	ask -o "$work/got" "$@" "$url" && cmp "$work/got" "$work/files/$file"
}

same_range()
{
	ask -o "$work/got" -r 1000001-3000000 "$1" &&
	tail -c +1000002 "$work/files/large" | head -c 2000000 | cmp - "$work/got"
}

# same_many URL: files over one connection, as long as they take turns
same_many()
{
	local i args=()

	for ((i = 0; i < 20; i++)); do
		args+=("$1/small" "$1/middle")
	done
	ask "${args[@]}" >"$work/got" && cmp "$work/got" "$work/many"
}

# put_file URL FILE
put_file()
{
	rm -f "$work/files/put/$2"
	ask -o "$work/answer" -T "$work/files/$2" "$1/$2" &&
	cmp "$work/files/$2" "$work/files/put/$2"
}
