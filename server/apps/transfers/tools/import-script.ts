/**
 * Runs in a sandbox without a network. \`$CPD_MATERIAL/target\` is the folder of a socket that leads to the database that is filled, \`source\` of one
 * that leads to the other database, and \`dump\` is the file where one was sent. A dump is a program that somebody wrote: all that it says is
 * said by a role with the rights of the database's first user, in one transaction. psql takes no command of its own between \\restrict and
 * \\unrestrict with the same word, which nobody can guess (CVE-2025-8714), and has nothing to gain by one here.
 *
 * What a database of the platform cannot have is left out and told: extensions that are there already, are not trusted or not known, the schema
 * \`public\`, which is there, and event triggers, which are a superuser's.
 */
export const IMPORT_SCRIPT = `
set -eu
umask 077
work=$HOME/import
rm -rf "$work"
mkdir "$work"
cd "$work"
target_password=$(cat "$CPD_SECRETS/password")
options='--no-password --exit-on-error --single-transaction --no-owner --no-acl --no-publications --no-subscriptions --no-tablespaces --no-security-labels --verbose'
[ -z "\${CPD_CLEAN:-}" ] || options="$options --clean --if-exists"

on_target() (
  export PGHOST="$CPD_MATERIAL/target" PGPORT=5432 PGUSER="$CPD_TARGET_USER" PGDATABASE="$CPD_TARGET_DATABASE" PGPASSWORD="$target_password"
  exec "$@"
)

on_source() (
  PGPASSWORD=$(cat "$CPD_SECRETS/source-password")
  export PGPASSWORD PGHOST="$CPD_MATERIAL/source" PGPORT=5432 PGUSER="$CPD_SOURCE_USER" PGDATABASE="$CPD_SOURCE_DATABASE"
  exec "$@"
)

ask='psql -X -q -A -t -w -v ON_ERROR_STOP=1'

listen() {
  mkfifo "$1"
  awk "$CPD_WORDS" < "$1" &
}

# Extensions that are there already, one on a line; then those that this role may create.
extensions() {
  on_target $ask -c 'SELECT extname FROM pg_catalog.pg_extension' > installed
  on_target $ask -c 'SELECT DISTINCT name FROM pg_catalog.pg_available_extension_versions WHERE trusted' > allowed
}

restore_archive() {
  pg_restore --list "$1" > all 2> refusal || { cat refusal; exit 1; }
  extensions
  awk '
    FILENAME == "installed" { installed[$0] = 1; next }
    FILENAME == "allowed" { allowed[$0] = 1; next }
    /^;/ { print; next }
    { kind = $4; name = $6 }
    kind == "EXTENSION" && installed[name] { next }
    kind == "EXTENSION" && !allowed[name] { print "cpd-skipped: the extension " name > "/dev/stderr"; next }
    kind == "COMMENT" && $6 == "EXTENSION" { gsub(/"/, "", $7); if (installed[$7] || !allowed[$7]) next }
    kind == "SCHEMA" && name == "public" { next }
    kind == "COMMENT" && $6 == "SCHEMA" && $7 == "public" { next }
    kind == "EVENT" && $5 == "TRIGGER" { print "cpd-skipped: the event trigger " $7 > "/dev/stderr"; next }
    { print }
  ' installed allowed all > list
  listen words
  listener=$!
  echo 'cpd-phase: writing'
  code=0
  on_target pg_restore $options --dbname="$CPD_TARGET" --use-list=list "$1" 2> words || code=$?
  wait "$listener"
  return "$code"
}

restore_sql() {
  if head -c 4096 "$1" | grep -q '^-- PostgreSQL database dump' && ! tail -c 4096 "$1" | grep -q '^-- PostgreSQL database dump complete'; then
    echo 'cpd-problem: truncated'
    exit 1
  fi
  extensions
  listen words
  listener=$!
  mkfifo script
  on_target psql -X -q -w --single-transaction -v ON_ERROR_STOP=1 -o /dev/null -f - < script 2> words &
  session=$!
  echo 'cpd-phase: writing'
  # A script that ends early would be committed: the session goes before it sees that end.
  (
    printf '\\\\restrict %s\\n' "$CPD_WORD"
    awk '
      FILENAME == "installed" { installed[$0] = 1; next }
      !begun && /^\\\\restrict [A-Za-z0-9]+$/ { word = $2; next }
      /^\\\\unrestrict / && word != "" && $2 == word { next }
      !begun && $0 != "" && !/^--/ { begun = 1 }
      copying { print; if ($0 == "\\\\.") copying = 0; next }
      /^COPY .* FROM stdin;$/ { copying = 1 }
      /^COMMENT ON EXTENSION / { name = $4; gsub(/"/, "", name); if (installed[name]) next }
      { print }
    ' installed "$1" || kill -KILL "$session"
    printf '\\n\\\\unrestrict %s\\n' "$CPD_WORD"
  ) > script || true
  code=0
  wait "$session" || code=$?
  wait "$listener"
  return "$code"
}

restore_database() {
  extensions
  excluded=''
  if [ -n "\${CPD_CAN_EXCLUDE:-}" ]; then
    on_source $ask -c 'SELECT extname FROM pg_catalog.pg_extension' > wanted 2> refusal || { cat refusal; exit 1; }
    while read -r name; do
      if grep -qxF -- "$name" installed; then excluded="$excluded --exclude-extension=$name"
      elif ! grep -qxF -- "$name" allowed; then
        excluded="$excluded --exclude-extension=$name"
        echo "cpd-skipped: the extension $name"
      fi
    done < wanted
  fi
  mkfifo pipe
  listen words
  listener=$!
  listen dump-words
  dump_listener=$!
  echo 'cpd-phase: copying'
  # Names of extensions are words of letters, digits, - and _; an exotic one only fails.
  set -f
  on_source pg_dump --no-password --format=custom --compress=0 --no-owner --no-acl --no-publications --no-subscriptions --no-tablespaces \\
    --no-security-labels --lock-wait-timeout=60000 $excluded > pipe 2> dump-words &
  dump=$!
  code=0
  on_target pg_restore $options --dbname="$CPD_TARGET" < pipe 2> words || code=$?
  dumped=0
  wait "$dump" || dumped=$?
  wait "$listener" "$dump_listener"
  [ "$dumped" = 0 ] || { [ "$code" = 0 ] && echo 'cpd-problem: incomplete'; exit "$dumped"; }
  return "$code"
}

dump=$CPD_MATERIAL/dump
case "$CPD_FORMAT" in
  custom) restore_archive "$dump" ;;
  sql) restore_sql "$dump" ;;
  database) restore_database ;;
  tar)
    if pg_restore --format=tar --list "$dump" > /dev/null 2>&1; then restore_archive "$dump"; exit; fi
    echo 'cpd-phase: unpacking'
    mkdir unpacked
    tar --extract --no-same-owner --no-same-permissions --file="$dump" --directory=unpacked
    toc=$(find unpacked -type f -name toc.dat | head -n 1)
    [ -n "$toc" ] || { echo 'cpd-problem: no dump'; exit 1; }
    restore_archive "$(dirname "$toc")"
    ;;
esac
`
