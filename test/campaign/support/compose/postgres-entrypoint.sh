#!/bin/sh
# Does at the first start what the script of the image postgres:18 does: the cluster, the role and the database that the
# environment names. The socket is in /tmp: below a read-only root, Podman with runc gives /var/run/postgresql to root.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  printf %s "$POSTGRES_PASSWORD" >/tmp/password
  # shellcheck disable=SC2086 # several arguments in one variable
  initdb --username="$POSTGRES_USER" --pwfile=/tmp/password --auth-local=trust --auth-host=scram-sha-256 ${POSTGRES_INITDB_ARGS:-}
  rm /tmp/password
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  pg_ctl -w start -o '-c listen_addresses='
  psql --host=/tmp --username="$POSTGRES_USER" --dbname=postgres --command="CREATE DATABASE \"$POSTGRES_DB\""
  pg_ctl -w stop
fi
exec "$@"
