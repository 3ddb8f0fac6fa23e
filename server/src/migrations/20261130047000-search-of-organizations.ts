import { OnlineMigration } from './online.ts';

/** An index for searches of organizations, which the previous release does not use. */
export class Migration20261130047000SearchOfOrganizations extends OnlineMigration {
  override async up(): Promise<void> {
    const [place] = await this.execute(
      `select quote_ident(n.nspname) as schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm'`,
    );
    const searched = `(search_fold(name) || ' ' || slug) ${String(place?.['schema'])}.gin_trgm_ops`;
    await this.index('organizations', 'organizations_search_index', searched, false, 'gin');
  }
}
