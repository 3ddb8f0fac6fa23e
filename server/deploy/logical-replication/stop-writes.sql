-- On the earlier database: refuses writes permanently. Latchkey responds with 503 from here on.
do $$
begin
  execute format('alter database %I set default_transaction_read_only = on', current_database());
  perform pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid();
end
$$;
