-- A role that reads the views delegations_current and delegations_history, and nothing else: no keys, no sessions, no webhooks.
-- Run it as the owner of the database, and choose a password:
--
--   psql "$DATABASE_URL" -v password="'…'" -f deploy/analysts.sql

CREATE ROLE delegations_analyst LOGIN PASSWORD :password;
ALTER ROLE delegations_analyst SET default_transaction_read_only = on;
-- A query that reads everything must not hold the service's old rows for long.
ALTER ROLE delegations_analyst SET statement_timeout = '10min';
GRANT USAGE ON SCHEMA public TO delegations_analyst;
GRANT SELECT ON delegations_current, delegations_history TO delegations_analyst;
