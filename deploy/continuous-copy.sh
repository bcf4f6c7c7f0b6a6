#!/bin/sh
# Copies the SQLite database continuously to DATABASE_COPY_URL, by Litestream, beside the service.
#
#   continuous-copy.sh            copies until it is ended
#   continuous-copy.sh restore [GENERATION]
#                                 brings the newest copy back into an empty DATA_DIR, or the one that `lag` lists
#   continuous-copy.sh lag        prints a row for each copy: name, generation, how far it is behind, start, end
set -eu
umask 077
: "${DATABASE_COPY_URL:?is missing: file:///folder or s3://bucket/path}"
mkdir -p "${DATA_DIR:=./data}"
data=$(cd "$DATA_DIR" && pwd)
database=$data/card-checkout.sqlite
config=$data/litestream.yml

# The npm package @flydotio/litestream, otherwise the PATH.
program=litestream
for packaged in "$(dirname "$0")"/../node_modules/@flydotio/litestream-*/litestream; do
  if [ -x "$packaged" ]; then program=$packaged; fi
done
"$program" version > /dev/null || {
  echo 'continuous-copy.sh needs Litestream: npm install --no-save @flydotio/litestream@1.0.1' >&2
  exit 1
}

# Both intervals together are what a lost disk costs. Litestream checkpoints before SQLite would by itself, after 1,000
# pages, so that it never misses a part of the log.
{
  cat <<END
logging: { level: warn, stderr: true }
dbs:
  - path: $database
    monitor-interval: 250ms
    min-checkpoint-page-count: 500
    replicas:
      - url: ${DATABASE_COPY_URL%%\?*}
        sync-interval: 250ms
        retention: 168h
END
  case $DATABASE_COPY_URL in
    *\?*) echo "${DATABASE_COPY_URL#*\?}" | tr '&' '\n' | sed 's/^\([a-z-]*\)=\(.*\)$/        \1: \2/' ;;
  esac
} > "$config.new"
mv "$config.new" "$config"

case ${1:-} in
  '') exec "$program" replicate -config "$config" ;;
  restore)
    if [ -n "${2:-}" ]; then exec "$program" restore -config "$config" -generation "$2" "$database"; fi
    "$program" restore -config "$config" "$database"
    generations=$("$program" generations -config "$config" "$database")
    # A service that started without its database has begun a newer, almost empty copy.
    if [ "$(printf '%s\n' "$generations" | wc -l)" -gt 2 ]; then
      printf '%s\n' 'Restored the copy that was written last. There are others:' "$generations" \
        'If it lacks payments, empty DATA_DIR and name the one that you need: continuous-copy.sh restore GENERATION' >&2
    fi
    ;;
  lag) exec "$program" generations -config "$config" "$database" ;;
  *)
    echo "continuous-copy.sh [restore [GENERATION]|lag]" >&2
    exit 2
    ;;
esac
