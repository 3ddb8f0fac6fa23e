-- On the earlier database, which needs wal_level = logical: publishes all tables of Latchkey, without those of jobs.
do $$
declare
  tables text;
  keyless text;
begin
  select string_agg(format('%I.%I', current_schema(), c.relname), ', ' order by c.relname),
    string_agg(c.relname, ', ') filter (where not exists (
      select from pg_index i where i.indrelid = c.oid and i.indisprimary))
  into tables, keyless
  from pg_class c
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition;
  if keyless is not null then
    raise exception 'tables without a primary key cannot be replicated: %', keyless;
  end if;
  execute 'create publication latchkey for table ' || tables || ' with (publish_via_partition_root = true)';
end
$$;
