-- How far each source of lines has been taken in, as the source understands it; written in the transaction that stores its lines. An output
-- of a service is named by the service and its own name, and a file of the access log by its path.
CREATE TABLE cursors (
  source TEXT PRIMARY KEY,
  cursor TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Outputs were known by their path, which ends in <service>/output/<name>.log. A data directory that was moved, or is given as another path to the
-- same place, has left several of one output: the furthest is taken.
WITH
  files AS (SELECT path, file || ':' || offset AS cursor, offset, rtrim(path, replace(path, '/', '')) AS folder FROM positions),
  folders AS (SELECT *, rtrim(folder, '/') AS place FROM files),
  services AS (SELECT *, rtrim(rtrim(place, replace(place, '/', '')), '/') AS service FROM folders)
INSERT OR REPLACE INTO cursors (source, cursor)
SELECT
  CASE
    WHEN path LIKE '%/output/%.log' AND place LIKE '%/output'
    THEN substr(service, length(rtrim(service, replace(service, '/', ''))) + 1) || '/'
      || substr(path, length(folder) + 1, length(path) - length(folder) - length('.log'))
    ELSE path
  END,
  cursor
FROM services
ORDER BY offset;

DROP TABLE positions;
