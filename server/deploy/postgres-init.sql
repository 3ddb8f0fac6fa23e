-- First start of PostgreSQL in docker-compose.yml: the role of Latchkey owns its database, and has no other rights.
\set password `cat /keys/postgres.password`
create role latchkey login password :'password';
create database latchkey owner latchkey;
-- For DATABASE_ROW_SECURITY (server/docs/database.md).
create role latchkey_tenant nologin;
grant latchkey_tenant to latchkey;
