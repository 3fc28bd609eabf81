# Run once by the image of PostgreSQL, when the primary of compose.scaling.yaml is made.
# Lets the standby in; and from the next start on, no commit is confirmed before the standby has it on its disk.
echo "host replication plantstore all scram-sha-256" >> "$PGDATA/pg_hba.conf"
echo "synchronous_standby_names = 'standby'" >> "$PGDATA/postgresql.auto.conf"
