#!/bin/sh
# Copies the SQLite database continuously to DATABASE_COPY_URL, by Litestream, beside the service.
#
#   continuous-copy.sh            copies until it is ended
#   continuous-copy.sh restore [GENERATION]
#                                 brings the newest copy with payments back into an empty DATA_DIR, or the one that `lag` lists
#   continuous-copy.sh lag        prints a row for each copy: name, generation, how far it is behind, start, end
#   continuous-copy.sh contents FILE
#                                 prints how many payments and accounts a database has; exit code 3 without payments
set -eu
umask 077

contents() {
  # A copy, because reading the file together with its write-ahead log would change both.
  if [ -s "$1-wal" ]; then
    copy=$(mktemp -d)
    cp "$1" "$copy/database"
    cp "$1-wal" "$copy/database-wal"
    code=0
    contents_of "$copy/database" '' || code=$?
    rm -r "$copy"
    return $code
  fi
  contents_of "$1" immutable=1
}

contents_of() {
  for node in "$(dirname "$0")"/../node_modules/.bin/node /opt/card-checkout/node_modules/.bin/node node; do
    "$node" --no-warnings --eval '
      const { DatabaseSync } = require("node:sqlite");
      const url = require("node:url").pathToFileURL(process.argv[1]);
      url.search = process.argv[2];
      const { accounts, payments, newest } = new DatabaseSync(url).prepare(
        "SELECT (SELECT count(*) FROM accounts) AS accounts, count(*) AS payments, max(created_at_ms) AS newest FROM payments",
      ).get();
      const when = newest === null ? "" : ` (newest: ${new Date(newest).toISOString()})`;
      console.log(`payments: ${payments}${when}, accounts: ${accounts}`);
      process.exitCode = payments === 0 ? 3 : 0;' "$1" "$2" 2> /dev/null && return 0
    [ $? != 3 ] || return 3
  done
  echo 'unknown contents, because there is no Node 24 here'
}

if [ "${1:-}" = contents ]; then
  contents "${2:?is missing: the file of a database}"
  exit
fi
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

# Litestream lists copies only beside a file.
list_copies() {
  if [ -e "$database" ]; then
    "$program" generations -config "$config" "$database"
    return
  fi
  : > "$database"
  "$program" generations -config "$config" "$database" || true
  rm "$database"
}

case ${1:-} in
  '') exec "$program" replicate -config "$config" ;;
  restore)
    if [ -e "$database" ]; then
      echo "$database exists already: name an empty DATA_DIR" >&2
      exit 1
    fi
    if [ -n "${2:-}" ]; then
      "$program" restore -config "$config" -generation "$2" "$database"
      echo "Restored $2: $(contents "$database" || true)." >&2
      exit
    fi
    generations=$(list_copies)
    newest_first=$(printf '%s\n' "$generations" | awk 'NR > 1 { print $5, $2 }' | sort -r | cut -d ' ' -f 2)
    chosen=
    # A service that started without its database has begun a newer copy, without payments.
    for generation in $newest_first; do
      "$program" restore -config "$config" -generation "$generation" "$database" || continue
      chosen=$generation
      if found=$(contents "$database"); then break; fi
      rm -f "$database" "$database-wal" "$database-shm"
    done
    if [ ! -e "$database" ]; then
      "$program" restore -config "$config" "$database"
      chosen='the copy that was written last' found=$(contents "$database" || true)
    fi
    echo "Restored $chosen: $found." >&2
    if [ "$(printf '%s\n' "$generations" | wc -l)" -gt 2 ]; then
      printf '%s\n' 'There are other copies:' "$generations" \
        'If payments are missing, empty DATA_DIR and name another one: continuous-copy.sh restore GENERATION' >&2
    fi
    ;;
  lag) list_copies ;;
  *)
    echo "continuous-copy.sh [restore [GENERATION]|lag|contents FILE]" >&2
    exit 2
    ;;
esac
