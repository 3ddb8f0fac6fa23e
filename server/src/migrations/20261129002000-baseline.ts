import { Migration } from '@mikro-orm/migrations';
import { credentials } from './baseline/credentials.ts';
import { directories } from './baseline/directories.ts';
import { events, firstPartition } from './baseline/events.ts';
import { functions } from './baseline/functions.ts';
import { instance } from './baseline/instance.ts';
import { projects } from './baseline/projects.ts';
import { rowSecurity } from './baseline/row-security.ts';
import { tokens } from './baseline/tokens.ts';
import { searchIndexes, users } from './baseline/users.ts';

/** The schema of release 1.0, for new databases (decisions/0367). Later migrations change it. */
export class Migration20261129002000Baseline extends Migration {
  override async up(): Promise<void> {
    await this.execute('create extension if not exists pg_trgm');
    const [place] = await this.execute(
      `select quote_ident(current_schema()) as tables, quote_ident(n.nspname) as extension,
          extract(epoch from date_trunc('month', now() at time zone 'UTC') + interval '2 months')::bigint * 1000 as "end"
        from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm'`,
    );
    await this.all(functions(String(place?.['tables'])));
    await this.all([...projects, ...users, ...credentials, ...tokens, ...directories, ...events, ...instance]);
    await this.all([firstPartition(Number(place?.['end'])), ...searchIndexes(String(place?.['extension']))]);
    const tables = await this.execute(
      `select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') order by 1`,
    );
    await this.all(rowSecurity(tables.map(({ name }) => String(name))));
  }

  private async all(statements: readonly string[]): Promise<void> {
    for (const statement of statements) await this.execute(statement);
  }
}
