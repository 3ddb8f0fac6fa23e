-- On the new database, after a start of Latchkey has created its tables: removes the rows that it wrote. Refuses if there
-- are users.
do $$
declare
  tables text;
begin
  if exists (select from users) then
    raise exception 'this database has users: it is not the new one';
  end if;
  select string_agg(format('%I.%I', current_schema(), c.relname), ', ')
  into tables
  from pg_class c
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition;
  execute 'truncate ' || tables;
end
$$;
