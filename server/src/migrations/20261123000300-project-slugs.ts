import { OnlineMigration } from './online.ts';

/** A slug made from the name, unlike that of a project of the previous release, which is random until the next release. */
const fromName = `trim(both '-' from left(regexp_replace(lower(name), '[^a-z0-9]+', '-', 'g'), 30))`;

/**
 * `slug` of projects: the path of their issuer. Projects that the previous release creates get the default, a random one.
 */
export class Migration20261123000300ProjectSlugs extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "projects" add column if not exists "slug" text null`,
      `alter table "projects" alter column "slug" set default 'p-' || replace(gen_random_uuid()::text, '-', '')`,
    );
    // Only the first project with a name gets a slug without a suffix.
    await this.backfill('projects', {
      set: `slug = made.slug || case when made.place = 1 then '' else '-' || right(replace(t.id::text, '-', ''), 8) end`,
      from: `(select id, slug, row_number() over (partition by slug order by created_at, id) as place
        from (select id, created_at, coalesce(nullif(${fromName}, ''), 'project') as slug from "projects") named) made`,
      where: 't.slug is null and made.id = t.id',
    });
    await this.index('projects', 'projects_slug_unique', 'slug', true);
    await this.notNull('projects', 'slug');
  }
}
