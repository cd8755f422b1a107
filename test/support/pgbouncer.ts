/** A PgBouncer that is new enough, which `.scripts/test-tools.ts` puts where sandboxes see it. */
export const pgbouncer = '/opt/cpd-tests/pgbouncer/pgbouncer'
