import { POOL } from './roles.ts'
import { quoteName, quoteText, scramVerifier } from './sql.ts'

/**
 * Has the role by which the pooler looks up who signs in: what the server keeps of their passwords, of tenants' roles alone. Runs in the
 * database `postgres`, where tenants make nothing. Repeatable.
 */
export const poolRoleSql = (password: string): string => `
DO $cpd$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = ${quoteText(POOL)}) THEN CREATE ROLE ${quoteName(POOL)}; END IF;
END $cpd$;
ALTER ROLE ${quoteName(POOL)} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD ${quoteText(scramVerifier(password))};
CREATE SCHEMA IF NOT EXISTS cpd;
REVOKE ALL ON SCHEMA cpd FROM PUBLIC;
GRANT USAGE ON SCHEMA cpd TO ${quoteName(POOL)};
CREATE OR REPLACE FUNCTION cpd.secret_of(wanted text) RETURNS TABLE (name name, secret text)
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $cpd$
    SELECT rolname, rolpassword FROM pg_authid
    WHERE rolname = wanted AND rolcanlogin AND NOT rolsuper AND NOT rolreplication AND rolname !~ '^(cpd|pg)_'
      AND (rolvaliduntil IS NULL OR rolvaliduntil > now())
  $cpd$;
REVOKE ALL ON FUNCTION cpd.secret_of(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cpd.secret_of(text) TO ${quoteName(POOL)};
`
