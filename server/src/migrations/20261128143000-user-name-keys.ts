import { OnlineMigration } from './online.ts';

const spaces = '\\u0009-\\u000D\\u0020\\u00A0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000\\uFEFF';
const invisible =
  '\\u00AD\\u034F\\u061C\\u115F\\u1160\\u17B4\\u17B5\\u180B-\\u180F\\u200B-\\u200F\\u202A-\\u202E\\u2060-\\u206F\\u3164\\uFE00-\\uFE0F\\uFEFF\\uFFA0\\uFFF0-\\uFFF8';

/**
 * Keys of user names without spaces around them, double spaces and invisible characters, as `userNameKey` makes them.
 * A key that another user has stays as it is.
 */
export class Migration20261128143000UserNameKeys extends OnlineMigration {
  override async up(): Promise<void> {
    const visible = `regexp_replace("user_name_key", '[${invisible}]', '', 'g')`;
    const key = `btrim(regexp_replace(${visible}, '[${spaces}]+', ' ', 'g'), ' ')`;
    await this.execute(`with odd as (
        select "project_id", "id", ${key} as key from "users"
        where "user_name_key" ~ '^[${spaces}]|[${spaces}]$|[${spaces}]{2}|[\\u00A0\\u1680\\u2000-\\u200A\\u202F\\u205F\\u3000${invisible}]'
      ), chosen as (
        select distinct on ("project_id", key) * from odd o
        where key <> '' and not exists (select from "users" u where u."project_id" = o."project_id" and u."user_name_key" = o.key)
        order by "project_id", key, "id"
      )
      update "users" u set "user_name_key" = c.key from chosen c
      where u."project_id" = c."project_id" and u."id" = c."id"`);
  }
}
