-- What the tables and views of a results database use and PostgreSQL lacks, and the list of what was pushed.  %S is the
-- schema.

CREATE TABLE %S.schema_version (
    version     integer NOT NULL,       -- of harness/store/schema.sql
    halcyon     text NOT NULL,          -- that created or upgraded the tables
    changed     timestamptz NOT NULL DEFAULT now()
);

-- The runs that are there.  identity: SHA-256 of what tells runs apart (harness/store/merge.h); an unfinished run is
-- replaced by a later state of it.
CREATE TABLE %S.pushes (
    run         bigint PRIMARY KEY,
    identity    bytea NOT NULL,
    finished    timestamptz,
    n_cases     bigint NOT NULL,
    pushed      timestamptz NOT NULL DEFAULT now(),
    pushed_by   name NOT NULL DEFAULT session_user,
    UNIQUE (identity, finished)
);

-- views.sql is written in the SQL that SQLite and PostgreSQL share, and these.
CREATE DOMAIN %S.blob AS bytea;
CREATE FUNCTION %S.instr(text, text) RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN strpos($1, $2);
CREATE FUNCTION %S.julianday(timestamptz) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (floor(extract(epoch FROM $1) * 1000) + 210866760000000)::double precision / 86400000;
CREATE FUNCTION %S.json_each(text) RETURNS TABLE (value json) LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN json_array_elements($1::json);
-- Without a separator: the text is only compared.
CREATE AGGREGATE %S.group_concat(text) (SFUNC = textcat, STYPE = text, INITCOND = '', PARALLEL = SAFE);
