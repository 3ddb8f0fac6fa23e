import type { EntityManager } from '@mikro-orm/postgresql';
import { type Fragment, query, sql } from '../kernel/sql.ts';
import { userTables } from '../nouns.ts';
import type { User } from '../users/user.entity.ts';
import { recordOf, type UserRecord } from '../users/user-record.ts';

const sections = userTables.flatMap(({ exportRows }) => Object.entries(exportRows));

const pageSize = 500;

interface ExportedRow {
  id: string;
  /** As JSON. */
  row: string;
}

/** The part of a person export that a reader may see. */
export interface Visible {
  profile(user: UserRecord): object;
  /** Null: withheld. @param row as JSON */
  row(section: string, row: string): string | null;
}

const everything: Visible = { profile: recordOf, row: (_section, row) => row };

/** All data of a user as one JSON object, in chunks (GDPR, article 15). Contains no secrets. */
export async function* personExport(
  reader: () => EntityManager,
  user: User,
  about: object,
  visible = everything,
): AsyncGenerator<string> {
  yield `${JSON.stringify({ ...about, profile: visible.profile(user) }, null, 2).slice(0, -2)}`;
  for (const [name, rows] of sections) {
    yield `,\n  ${JSON.stringify(name)}: [`;
    let isFirst = true;
    for await (const stored of each(reader, rows(user))) {
      const row = visible.row(name, stored);
      if (row === null) continue;
      yield `${isFirst ? '' : ','}\n    ${row}`;
      isFirst = false;
    }
    yield isFirst ? ']' : '\n  ]';
  }
  yield '\n}\n';
}

/** The number of rows in each section. */
export async function countHoldings(em: EntityManager, user: User): Promise<Map<string, number>> {
  const counts = sections.map(
    ([name, rows]) => sql`select ${name}::text as name, count(*) as count from (${rows(user)}) t`,
  );
  const found = await query(em, sql<{ name: string; count: string }>`${sql.join(counts, sql` union all `)}`);
  return new Map(found.map(({ name, count }) => [name, Number(count)]));
}

async function* each(reader: () => EntityManager, rows: Fragment): AsyncGenerator<string> {
  for (let after: string | null = null; ; ) {
    const beyond = after === null ? sql`` : sql`where t.id > ${after}::uuid`;
    const page: ExportedRow[] = await query(
      reader(),
      sql<ExportedRow>`select t.id, row_to_json(t)::text as row from (${rows}) t ${beyond} order by t.id limit ${pageSize}`,
    );
    for (const { row } of page) yield row;
    if (page.length < pageSize) return;
    after = page.at(-1)?.id ?? null;
  }
}
