import type pg from 'pg';

/** The net change of one row. */
export interface Change {
  table: string;
  /** Columns before and after; null: no such row. */
  before: Row | null;
  after: Row | null;
}
type Row = Record<string, unknown>;

/** Records the changes of all tables of the public schema, by triggers: a rolled-back change leaves no record. */
export async function recordChanges(admin: pg.Client): Promise<void> {
  await admin.query(`
    create schema changes;
    create table changes.log (id bigint generated always as identity, name text, key text, before jsonb, after jsonb);
    create function changes.note() returns trigger language plpgsql security definer as $$
      declare
        b jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
        a jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
        key text;
      begin
        select string_agg(coalesce(a, b) ->> c, ' ' order by c) into key from unnest(tg_argv) c;
        insert into changes.log (name, key, before, after) values (tg_argv[0], key, b, a);
        return null;
      end $$;
    do $$
      declare t record;
      begin
        for t in
          select c.oid::regclass as name, c.relname, coalesce((
            select string_agg(quote_literal(a.attname), ', ') from pg_index i join pg_attribute a
            on a.attrelid = i.indrelid and a.attnum = any(i.indkey) where i.indrelid = c.oid and i.indisprimary), '''id''') as key
          from pg_class c where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace
        loop
          execute format('create trigger changes after insert or update or delete on %s for each row execute function changes.note(%L, %s)',
            t.name, t.relname, t.key);
        end loop;
      end $$`);
}

/** Net changes since the last call. */
export async function takeChanges(admin: pg.Client): Promise<Change[]> {
  const { rows } = await admin.query<{ id: string; name: string; key: string; before: Row | null; after: Row | null }>(
    'with gone as (delete from changes.log returning *) select * from gone order by id',
  );
  const byRow = new Map<string, Change>();
  for (const { name, key, before, after } of rows) {
    const known = byRow.get(`${name} ${key}`);
    if (known) known.after = after;
    else byRow.set(`${name} ${key}`, { table: name, before, after });
  }
  return [...byRow.values()].filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after));
}

/** One line per change without its values: `+` inserted, `-` deleted, `~` updated with its columns. */
export function shapeOf(changes: readonly Change[]): string[] {
  // Each project has several rows of counts, one of which a change uses.
  const counts = changes.filter(({ table }) => table === 'user_counts');
  const count = (row: Row | null) => Number(row?.['users'] ?? 0);
  const sum = counts.reduce((total, { before, after }) => total + count(after) - count(before), 0);
  return changes
    .filter(({ table }) => table !== 'user_counts')
    .map(({ table, before, after }) => {
      if (!before) return `+ ${table}${table === 'audit_log' ? ` ${after?.['type']}` : ''}`;
      if (!after) return `- ${table}`;
      const columns = Object.keys(after).filter((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]));
      return `~ ${table} ${columns.sort().join(' ')}`;
    })
    .concat(sum === 0 ? [] : [`user_counts ${sum}`])
    .sort();
}
