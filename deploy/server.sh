#!/usr/bin/env bash
# Installs card-checkout on a server, updates it, and restores a backup: Debian or Ubuntu with systemd, Caddy for TLS, and SQLite
# or PostgreSQL. Run it as root in a clone of the repository; docs/deploying.md explains it.
#
#   deploy/server.sh install --domain pay.example.com --email you@example.com [--rpc URL,URL,URL] [--fee-wallet 0x…]
#                            [--postgres] [--no-caddy] [--merchant 'Tea shop' --owner anna@shop.example]
#   deploy/server.sh update [--no-way-back]      to the commit that the clone has checked out
#   deploy/server.sh restore FILE [RELEASE]      with the running release, or one of /opt/card-checkout-releases
#
# Each command can be repeated: it leaves what is done as it is, and continues.
set -Eeuo pipefail
umask 077
trap 'printf "error: line %s of %s failed: %s\n" "$LINENO" "$0" "$BASH_COMMAND" >&2' ERR

clone=$(cd "$(dirname "$0")/.." && pwd)
releases=/opt/card-checkout-releases
current=/opt/card-checkout
settings=/etc/card-checkout/env
data=/var/lib/card-checkout
backups=/var/lib/card-checkout-backups
command_file=/usr/local/bin/card-checkout
ready_seconds=120

say() { printf '%s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Says how long the step before took, and which of `steps` begins. The last one ends with `finish_step`.
steps=0 step=0 began=0
start_step() {
  finish_step
  step=$((step + 1)) began=$SECONDS
  say "Step $step of $steps: $1 …"
}
finish_step() { [ $step = 0 ] || say "  took $((SECONDS - began)) s"; }

setting() { sed -n "s/^$1=//p" "$settings" | tail -n 1; }
write_setting() {
  { grep -v "^$1=" "$settings" || true; printf '%s=%s\n' "$1" "$2"; } > "$settings.new"
  chgrp card-checkout "$settings.new"
  chmod 0640 "$settings.new"
  mv "$settings.new" "$settings"
}
# Keeps a value that is there.
default_setting() { [ -n "$(setting "$1")" ] || [ -z "$2" ] || write_setting "$1" "$2"; }
port() { local port; port=$(setting PORT); printf '%s' "${port:-3000}"; }

# Makes `card-checkout` a command of the machine: root runs it as the user of the service, with the authorities that the service
# trusts.
install_command() {
  (umask 022 && mkdir -p "$(dirname "$command_file")")
  cat > "$command_file.new" << 'COMMAND'
#!/bin/sh
# Installed by deploy/server.sh. Paths must be absolute.
cd /opt/card-checkout || exit
NODE_EXTRA_CA_CERTS=$(sed -n 's/^NODE_EXTRA_CA_CERTS=//p' /etc/card-checkout/env | tail -n 1)
export NODE_EXTRA_CA_CERTS
set -- node_modules/.bin/node bin/card-checkout.js "$@"
[ "$(id -u)" = 0 ] || exec "$@"
exec runuser --user card-checkout -- "$@"
COMMAND
  chmod 0755 "$command_file.new"
  mv "$command_file.new" "$command_file"
}

# Runs a command of a release as the user of the service, which trusts the authorities that the service trusts.
checkout_in() {
  (cd "$1" && shift && NODE_EXTRA_CA_CERTS=$(setting NODE_EXTRA_CA_CERTS) runuser --user card-checkout -- node_modules/.bin/node bin/card-checkout.js "$@")
}
checkout() { checkout_in "$current" "$@"; }
# Not in the clone, which that user may not enter.
as_postgres() { (cd / && runuser --user postgres -- "$@"); }
# Takes the password out of DATABASE_URL for libpq, because every user of the machine sees a program's arguments.
hide_password='user=${DATABASE_URL%%@*}; case $user in *://*:*%*) ;; *://*:*) export PGPASSWORD="${user##*:}" DATABASE_URL="${user%:*}@${DATABASE_URL#*@}" ;; esac'
# Reads JSON from the last line of standard input, and prints an expression of it. Fails silently without input: its command said why.
json() { tail -n 1 | "$current/node_modules/.bin/node" -e "const it = JSON.parse(require('fs').readFileSync(0, 'utf8') || process.exit(1)); console.log($1)"; }

# ---- parts of install and update ----

require_packages() {
  local missing=() program package
  for pair in "$@"; do
    program=${pair%%=*} package=${pair#*=}
    command -v "$program" > /dev/null || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "Installing ${missing[*]}, and what they need (a few minutes on a new server) …"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends "${missing[@]}" |
    awk '/^(Unpacking|Setting up) / && ++steps % 50 == 0 { print "  " steps " packages unpacked or set up"; fflush() }'
}

# Prints why the service did not start, in its own words: the last such line since `wait_ready` began, and what is indented below it.
say_reason() {
  journalctl --unit card-checkout --no-pager --output cat --since "@$waits_since" |
    awk '/^card-checkout: / { reason = $0; next } /^  / { if (reason != "") reason = reason "\n" $0 } END { if (reason != "") print reason }'
}
fail_with_reason() {
  say_reason >&2
  fail "$1"
}

# Sets `release` to the folder of the clone's commit, installed.
place_release() {
  local commit
  commit=$(git -c safe.directory="$clone" -C "$clone" rev-parse --short=12 HEAD)
  release=$releases/$commit
  [ ! -e "$release/.installed" ] || return 0
  say "Installing release $commit …"
  rm -rf "$release"
  (umask 022 && mkdir -p "$release")
  git -c safe.directory="$clone" -C "$clone" archive HEAD | (umask 022 && tar -x -C "$release")
  ln -s "$settings" "$release/.env"
  (cd "$release" && umask 022 && node tools/setup.js --service)
  touch "$release/.installed"
}

# For DATABASE_COPY_URL. Outside of the releases, so that an update keeps it.
require_litestream() {
  [ -n "$(setting DATABASE_COPY_URL)" ] && ! command -v litestream > /dev/null || return 0
  local folder=/opt/card-checkout-litestream
  say 'Installing Litestream …'
  (umask 022 && npm install --silent --prefix "$folder" @flydotio/litestream@1.0.1 && mkdir -p /usr/local/bin &&
    ln -sf "$folder"/node_modules/@flydotio/litestream-*/litestream /usr/local/bin/litestream)
}

# Makes a release the one that systemd starts; the units know no other Node than the project's own.
use_release() {
  ln -sfn "$1" "$current"
  install_command
  local unit
  for unit in "$current"/deploy/systemd/*; do
    (umask 022 && sed "s#/usr/bin/node#$current/node_modules/.bin/node#" "$unit" > "/etc/systemd/system/$(basename "$unit")")
  done
  if [ -n "$(setting DATABASE_URL)" ]; then
    (umask 022 && mkdir -p /etc/systemd/system/card-checkout-backup.service.d && cat > /etc/systemd/system/card-checkout-backup.service.d/postgres.conf) << UNIT
[Service]
ExecStart=
ExecStart=sh -c '$(sed 's/[$%]/&&/g' <<< "$hide_password"); file="/var/lib/card-checkout-backups/\$(date --utc +%%Y-%%m-%%dT%%H%%M%%SZ).dump"; pg_dump --format=custom --file="\$\$file.unfinished" "\$\$DATABASE_URL" && mv "\$\$file.unfinished" "\$\$file"'
ExecStart=find /var/lib/card-checkout-backups -name '*.dump*' -mtime +14 -delete
UNIT
  fi
  systemctl daemon-reload
}

# Fails unless the service answers that it is ready within the time.
is_ready() { curl --silent --fail --output /dev/null "http://127.0.0.1:$(port)/health/ready"; }
restarts() { systemctl show --property NRestarts --value card-checkout; }
wait_ready() {
  local waits_from=$SECONDS said=0 waited
  # A start that fails may have done so before.
  waits_since=$(($(date +%s) - 5))
  while waited=$((SECONDS - waits_from)) && [ $waited -lt $ready_seconds ]; do
    ! is_ready || return 0
    [ "$(restarts)" -lt 3 ] || return 1
    if [ $((waited - said)) -ge 10 ]; then
      said=$waited
      say "  not ready after $waited s, waiting for up to $ready_seconds s"
    fi
    sleep 1
  done
  return 1
}

# The copy of the database belongs to the release too, and runs only where it is set up.
restart_service() {
  systemctl restart card-checkout || true
  systemctl try-restart card-checkout-copy || true
}

# doctor ends with exit code 1 where a check fails.
failed_checks() { { checkout doctor --json 2> /dev/null || true; } | json "it.checks.filter((each) => !each.isFine).map((each) => each.name).join(' ')"; }

# ---- install ----

install_service() {
  local domain='' email='' rpc='' fee_wallet='' merchant='' owner='' postgres=no caddy=caddy
  while [ $# -gt 0 ]; do
    case $1 in
      --postgres) postgres=yes && shift && continue ;;
      --no-caddy) caddy='' && shift && continue ;;
      --domain | --email | --rpc | --fee-wallet | --merchant | --owner) [ $# -ge 2 ] || fail "$1 needs a value" ;;
      *) fail "unknown option $1" ;;
    esac
    case $1 in
      --domain) domain=$2 ;;
      --email) email=$2 ;;
      --rpc) rpc=$2 ;;
      --fee-wallet) fee_wallet=$2 ;;
      --merchant) merchant=$2 ;;
      --owner) owner=$2 ;;
    esac
    shift 2
  done
  [[ $domain =~ ^[a-z0-9.-]+$ ]] || fail '--domain must be the host name of the checkout, such as pay.example.com'
  [[ $email =~ ^[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+$ ]] || fail '--email must be your address: it gets warnings about the certificate, and the operator’s console'
  [ -z "$merchant" ] || [ -n "$owner" ] || fail '--merchant needs --owner, the email address of the merchant'

  steps=$([ -z "$caddy" ] && echo 7 || echo 8)
  start_step 'packages and the user of the service'
  require_packages git=git curl=curl openssl=openssl node=nodejs npm=npm ${caddy:+caddy=caddy}
  [ "$(node -p 'Number(process.versions.node.split(".")[0]) >= 18')" = true ] ||
    fail "Node $(node -v) is too old to install with: install Node 18 or newer from nodejs.org, then run the same command again"
  id card-checkout > /dev/null 2>&1 || useradd --system --home-dir "$data" card-checkout
  install -d -m 0750 -g card-checkout /etc/card-checkout
  install -d -m 0700 -o card-checkout -g card-checkout "$data" "$backups"
  [ -e "$settings" ] || cp "$clone/.env.example" "$settings"
  chgrp card-checkout "$settings"
  chmod 0640 "$settings"
  start_step 'the release'
  if [ ! -e "$current" ]; then
    place_release
    ln -s "$release" "$current"
  fi

  start_step 'settings and the database'
  default_setting DATA_DIR "$data"
  default_setting BASE_URL "https://$domain"
  default_setting TRUST_PROXY 127.0.0.1
  default_setting SECRET_KEY "$(openssl rand -hex 32)"
  default_setting POLYGON_RPC_URL "$rpc"
  default_setting FEE_WALLET "$fee_wallet"
  [ "$postgres" = no ] || make_database
  [ -n "$(setting RELAYER_PRIVATE_KEY)$(setting RELAYER_SIGNER_URL)" ] || write_setting RELAYER_PRIVATE_KEY "$(checkout relayer create --json | json it.relayer_private_key)"
  for name in POLYGON_RPC_URL FEE_WALLET; do
    [ -n "$(setting $name)" ] || fail "set $name in $settings (docs/going-live.md, step 2), then run the same command again"
  done
  start_step 'the deposit factory'
  [ -n "$(setting DEPOSIT_FACTORY_ADDRESS)" ] || deploy_factory
  start_step 'the service'
  require_litestream
  checkout init > /dev/null

  use_release "$(readlink -f "$current")"
  systemctl enable --quiet --now card-checkout card-checkout-backup.timer card-checkout-verify.timer
  # A service that fails again and again may have been given the right settings since.
  [ "$(restarts)" = 0 ] || is_ready || systemctl restart card-checkout
  wait_ready || fail_with_reason "the service did not become ready: journalctl --unit card-checkout"
  [ -z "$caddy" ] || serve_tls "$domain" "$email"
  start_step 'access for people'
  checkout user list --json | grep -F "\"$email\"" > /dev/null || checkout user create "$email" --operator
  [ -z "$merchant" ] || add_merchant "$merchant" "$owner"
  start_step 'doctor'
  checkout doctor || true
  finish_step
  [ -n "$(newest_backup)" ] || say "The first backup is made tonight.$([ -n "$(setting DATABASE_URL)" ] || echo ' Until then, doctor warns of it.')"
  say "card-checkout runs at https://$domain with its settings in $settings."
  say "Next: the provider's credentials there, systemctl restart card-checkout, what doctor names above, and docs/going-live.md: step 6 (rehearse), then from step 8."
}

make_database() {
  require_packages psql=postgresql
  local url password
  url=$(setting DATABASE_URL)
  [ -n "$url" ] || url="postgres://checkout:$(openssl rand -hex 24)@127.0.0.1:5432/checkout"
  # On a new server, the settings may name a database that is still to be made. Others are the operator's own.
  [[ $url =~ ^postgres(ql)?://checkout:([0-9A-Za-z]+)@(127\.0\.0\.1|localhost)(:5432)?/checkout(\?|$) ]] || return 0
  password=${BASH_REMATCH[2]}
  systemctl start postgresql
  as_postgres psql --quiet --set ON_ERROR_STOP=1 << SQL
SELECT 'CREATE ROLE checkout LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'checkout') \gexec
ALTER ROLE checkout PASSWORD '$password';
SELECT 'CREATE DATABASE checkout OWNER checkout ENCODING ''UTF8'' TEMPLATE template0'
  WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'checkout') \gexec
SQL
  default_setting DATABASE_URL "$url"
}

deploy_factory() {
  local factory relayer
  if ! factory=$(checkout contract deploy --json | json it.deposit_factory_address); then
    # Without an answer of the chain, the address cannot be asked for, and POL is not what is missing.
    if relayer=$(checkout relayer show --json 2> /dev/null | json "it[0].address" 2> /dev/null); then
      fail "the factory was not deployed. Send 20 POL on Polygon to $relayer, the relayer's address, then run the same command again"
    fi
    fail "the factory was not deployed, for the reason above. Correct POLYGON_RPC_URL or CHAIN_ID in $settings, then run the same command again"
  fi
  write_setting DEPOSIT_FACTORY_ADDRESS "$factory"
}

serve_tls() {
  start_step 'TLS'
  local file=/etc/caddy/card-checkout.caddy tls="tls $2"
  [ "$1" != localhost ] || tls='tls internal'
  (umask 022 && sed -e "s/pay\.example\.com/$1/" -e "s/{\$UPSTREAM:127.0.0.1:3000}/127.0.0.1:$(port)/" \
    -e "0,/^$1 {/s//$1 {\n\t$tls/" "$clone/deploy/Caddyfile" > "$file")
  grep -qsx 'import card-checkout.caddy' /etc/caddy/Caddyfile || printf '\nimport card-checkout.caddy\n' >> /etc/caddy/Caddyfile
  caddy validate --adapter caddyfile --config /etc/caddy/Caddyfile > /dev/null 2>&1 ||
    fail "Caddy refuses its settings: caddy validate --config /etc/caddy/Caddyfile"
  systemctl enable --quiet caddy
  systemctl reload-or-restart caddy
}

add_merchant() {
  local account
  account=$(checkout account list --json | NAME=$1 json "it.find((each) => each.name === process.env.NAME)?.account_id ?? ''")
  [ -n "$account" ] || account=$(checkout account create --name "$1" --json | json it.account_id)
  checkout user list --json | grep -F "\"$2\"" > /dev/null || checkout user create "$2" --account "$account" --role owner
}

# ---- update ----

update_service() {
  local no_way_back=no previous before after plan version oldest
  case ${1:-} in
    '') ;;
    --no-way-back) no_way_back=yes ;;
    *) fail "unknown option $1" ;;
  esac
  previous=$(readlink -f "$current") || fail 'nothing is installed: deploy/server.sh install'
  steps=5
  start_step 'the release'
  place_release
  if [ "$release" = "$previous" ]; then
    say "$(basename "$release") is installed already."
    return 0
  fi
  start_step 'doctor, and the plan of the migration'
  require_litestream
  before=$(failed_checks)
  plan=$(checkout_in "$release" migrate --plan --json)
  version=$("$current/node_modules/.bin/node" -p "require('$previous/package.json').version")
  oldest=$(VERSION=$version json "it.migrations.map((each) => each.oldest_version).filter((each) => each.localeCompare(process.env.VERSION, 'en', { numeric: true }) > 0)[0] ?? ''" <<< "$plan")
  say "Plan: $(json "it.migrations.map((each) => each.number + ' ' + each.name + ' (locks: ' + each.lock + ')').join(', ') || 'the database stays as it is'" <<< "$plan")"
  [ -z "$oldest" ] || [ $no_way_back = yes ] ||
    fail "after this update, $version no longer runs on the database, only $oldest or newer: the way back is the backup. Run update --no-way-back"
  start_step 'the backup'
  systemctl start card-checkout-backup || fail 'the backup failed: journalctl --unit card-checkout-backup. Nothing was changed'

  start_step "the start of $(basename "$release")"
  use_release "$release"
  restart_service
  if wait_ready; then
    start_step 'doctor'
    after=$(failed_checks)
    local name worse=''
    for name in $after; do [[ " $before " == *" $name "* ]] || worse+=" $name"; done
    finish_step
    if [ -z "$worse" ]; then
      say "$(basename "$release") runs. The one before is kept: $previous"
      return 0
    fi
    say "doctor fails now:$worse"
  else
    say_reason
    say "$(basename "$release") did not become ready: journalctl --unit card-checkout"
  fi
  [ -z "$oldest" ] || fail "there is no way back without the backup: deploy/server.sh restore $(newest_backup) $(basename "$previous")"
  say "Going back to $(basename "$previous") …"
  use_release "$previous"
  restart_service
  wait_ready || fail_with_reason "$(basename "$previous") did not become ready either: journalctl --unit card-checkout"
  fail "the update failed, and $(basename "$previous") runs again"
}

newest_backup() { find "$backups" -type f \( -name '*.sqlite' -o -name '*.dump' \) | sort | tail -n 1; }

# ---- restore ----

restore_backup() {
  [ -f "${1:-}" ] || fail "restore needs the file of a backup, such as $(newest_backup)"
  local file when release=${2:-} found='the backup'
  file=$(readlink -f "$1")
  [ -z "$release" ] || [ -e "$releases/$release/bin/card-checkout.js" ] || fail "there is no release $releases/$release"
  when=$(date --utc +%Y%m%d%H%M%S)
  if [ -z "$(setting DATABASE_URL)" ]; then
    [ "$(head -c 15 "$file")" = 'SQLite format 3' ] || fail "$file is no SQLite database"
    found=$("$clone/deploy/continuous-copy.sh" contents "$file" || true)
  else
    # The list alone is complete in a dump that ended in between.
    pg_restore --file=/dev/null "$file" || fail "$file is no complete dump of pg_dump --format=custom. Nothing was changed"
    found="accounts: $(pg_restore --data-only --table=accounts --file=- "$file" | sed '1,/^COPY /d; /^\\\.$/,$d' | wc -l)"
  fi
  [[ $found != *'accounts: 0' ]] || fail "$file has no accounts, so it is probably the wrong database. Nothing was changed"
  say "$file: $found"
  steps=4
  start_step 'the stop of the service'
  systemctl stop card-checkout
  systemctl stop card-checkout-copy || true
  [ -z "$release" ] || use_release "$releases/$release"
  start_step 'the database'
  if [ -z "$(setting DATABASE_URL)" ]; then
    # Not as root, which would follow links that the service's user has made there.
    runuser --user card-checkout -- sh -C -c 'umask 077 && cd "$1" && mkdir "$2" &&
      find . -maxdepth 1 -name "card-checkout.sqlite*" -exec mv {} "$2/" \; && cat > card-checkout.sqlite' \
      sh "$data" "replaced-$when" < "$file"
    # Payments that the last stop did not write into the file itself: those after a crash.
    [ ! -s "$file-wal" ] || runuser --user card-checkout -- sh -C -c 'umask 077 && cat > "$1/card-checkout.sqlite-wal"' sh "$data" < "$file-wal"
    say "The database before, if there was one, is in $data/replaced-$when."
  else
    # Beside the database in use, which takes part only when all is restored.
    as_postgres createdb --owner=checkout --encoding=UTF8 --template=template0 "checkout_restoring_$when"
    if ! as_postgres pg_restore --no-owner --role=checkout --single-transaction --dbname="checkout_restoring_$when" < "$file"; then
      as_postgres dropdb "checkout_restoring_$when"
      systemctl start card-checkout
      fail 'nothing was restored, for the reason above. The service runs again on its database'
    fi
    as_postgres psql --quiet --set ON_ERROR_STOP=1 --single-transaction << SQL
ALTER DATABASE checkout RENAME TO checkout_replaced_$when;
ALTER DATABASE checkout_restoring_$when RENAME TO checkout;
SQL
    say "The database before is checkout_replaced_$when."
  fi
  start_step 'the start of the service'
  # A backup from before an update has an older schema.
  checkout migrate > /dev/null
  # Release 0.1.0 has no such command.
  ! checkout --help | grep '^ *restore ' > /dev/null || checkout restore > /dev/null
  systemctl start card-checkout
  wait_ready || fail_with_reason 'the service did not become ready: journalctl --unit card-checkout'
  say "Restored ($found). What a restore cannot bring back: docs/reliability.md."
  start_step 'the comparison with the chain'
  systemctl start card-checkout-verify || fail 'verify found differences: journalctl --unit card-checkout-verify'
  finish_step
  say 'verify found no difference.'
}

[ "$(id -u)" = 0 ] || fail 'run it as root'
[ ! -d "$current" ] || [ -L "$current" ] ||
  fail "$current is an installation by hand. To take it over: systemctl stop card-checkout, mv $current $current-by-hand, then deploy/server.sh install"
[ -d /run/systemd/system ] || fail 'this machine does not run systemd: see the other ways in docs/deploying.md'
exec 9> /run/card-checkout-server.lock
flock --nonblock 9 || fail 'another run of this script is under way'
command=${1:-}
[ $# -eq 0 ] || shift
case $command in
  install) install_service "$@" ;;
  update) update_service "$@" ;;
  restore) restore_backup "$@" ;;
  *) fail 'usage: deploy/server.sh install|update|restore (the head of the file has the options)' ;;
esac
