import { OnlineMigration } from './online.ts';

/** Index for searches by parts of names, addresses and ids of users (`domain/users/user-list.ts`). */
export class Migration20261123021500UserSearch extends OnlineMigration {
  override async up(): Promise<void> {
    await this.execute('create extension if not exists pg_trgm');
    const [extension] = await this.execute(
      `select quote_ident(n.nspname) as schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace
        where e.extname = 'pg_trgm'`,
    );
    const text = `' ' || "user_name_key" || ' ' || coalesce("email_key", '') || ' ' || lower(coalesce("display_name", '')
      || ' ' || coalesce("given_name", '') || ' ' || coalesce("family_name", '') || ' ' || coalesce("external_id", ''))`;
    const operators = `${String(extension?.['schema'])}.gin_trgm_ops`;
    await this.index('users', 'users_search_index', `(${text}) ${operators}`, false, 'gin');
    // Gives the planner the frequency of each part.
    await this.execute('analyze "users"');
  }
}
