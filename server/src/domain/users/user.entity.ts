import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { tenant } from '../projects/tenant.ts';

export const provenances = ['local', 'scim'] as const;

/**
 * SQL: the searched text of a user, folded, each field after a space. `searchFold` of `shared/contracts` folds the words of a
 * search in the same way (decisions/0350).
 *
 * @param row the name of the row, with a dot
 */
export const searchedText = (
  row: string,
) => `' ' || search_fold(${row}user_name_key || ' ' || coalesce(${row}email_key, ''))
  || ' ' || search_fold(coalesce(${row}display_name, '') || ' ' || coalesce(${row}given_name, '') || ' '
  || coalesce(${row}family_name, '') || ' ' || coalesce(${row}external_id, ''))`;

const schema = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    project: tenant,
    /** The SCIM `id`; without a `subject`, also `sub` in tokens (`identity/sub.ts`). */
    id: key(),
    /** The organization that is the home of the user; null: the project (decisions/0400). A foreign key of the database. */
    organizationId: p.uuid().nullable(),
    /**
     * Of a guest (decisions/0402): the user whom this record of the directory of an organization stands for. The record is no user itself: it
     * has no login, is in no list of users, and only that directory sees it. A foreign key of the database.
     */
    accountId: p.uuid().nullable(),
    /** `sub` in tokens, of a user who came from another system with it. Never changes; null again after a change of hands. */
    subject: p.text().nullable(),
    userName: p.text(),
    /** Case-insensitive key of `userName` (RFC 7643 §4.1.1). */
    userNameKey: p.text(),
    externalId: p.text().nullable(),
    displayName: p.text().nullable(),
    givenName: p.text().nullable(),
    familyName: p.text().nullable(),
    /** The login email: primary, else of type `work`, else the first. */
    email: p.text().nullable(),
    emailKey: p.text().nullable(),
    /** The login phone in E.164. */
    phone: p.text().nullable(),
    /**
     * The key of the login email that the directory of an organization gave, outside the verified domains of the organization, or while a user
     * at another home has it: this user has none then (decisions/0401, 0408). Unique at the home, like `emailKey`: a directory must not find
     * out whether the address is used elsewhere.
     */
    withheldEmailKey: p.text().nullable(),
    /** The same of the login phone. */
    withheldPhone: p.text().nullable(),
    active: p.boolean().default(true),
    provenance: p.enum(provenances).default('local'),
    /** Every other attribute of the SCIM User schema and its enterprise extension, as the directory sent it. */
    attributes: p.json<Record<string, unknown>>().default('{}'),
    version: p.integer().default(1),
    createdAt: instant(),
    updatedAt: instant(),
    lastSignInAt: instant().nullable(),
    /** The hour of `lastSignInAt`, for indexes; written by a trigger (decisions/0182). */
    signInHour: instant().nullable().lazy(),
    /** Time of the last invitation. Null: never, or it was revoked. */
    invitedAt: instant().nullable(),
  },
  indexes: [
    {
      name: 'users_project_id_active_provenance_id_index',
      properties: ['project', 'active', 'provenance', 'id'],
    },
    {
      name: 'users_project_id_subject_unique',
      expression:
        'create unique index "users_project_id_subject_unique" on "users" ("project_id", "subject") where ("subject" is not null)',
    },
    { name: 'users_project_id_sign_in_hour_id_index', properties: ['project', 'signInHour', 'id'] },
    // The project is one home.
    {
      name: 'users_project_id_user_name_key_unique',
      expression:
        'create unique index "users_project_id_user_name_key_unique" on "users" ("project_id", "user_name_key", coalesce("organization_id", "project_id"))',
    },
    {
      name: 'users_project_id_account_id_unique',
      expression:
        'create unique index "users_project_id_account_id_unique" on "users" ("project_id", "account_id", "organization_id") where ("account_id" is not null)',
    },
    {
      name: 'users_withheld_email_unique',
      expression:
        'create unique index "users_withheld_email_unique" on "users" ("project_id", "withheld_email_key", coalesce("organization_id", "project_id")) where ("withheld_email_key" is not null)',
    },
    {
      name: 'users_withheld_phone_unique',
      expression:
        'create unique index "users_withheld_phone_unique" on "users" ("project_id", "withheld_phone", coalesce("organization_id", "project_id")) where ("withheld_phone" is not null)',
    },
    {
      name: 'users_project_id_id_of_project_index',
      expression:
        'create index "users_project_id_id_of_project_index" on "users" ("project_id", "id") where ("organization_id" is null)',
    },
    {
      name: 'users_project_id_organization_id_id_index',
      expression:
        'create index "users_project_id_organization_id_id_index" on "users" ("project_id", "organization_id", "id") where ("organization_id" is not null)',
    },
    // In byte order, regardless of the database's collation: these serve `eq`, `sw`, ranges and sorting alike.
    {
      name: 'users_project_id_external_id_index',
      expression:
        'create index "users_project_id_external_id_index" on "users" ("project_id", "external_id" collate "C")',
    },
    {
      name: 'users_project_id_user_name_key_index',
      expression:
        'create index "users_project_id_user_name_key_index" on "users" ("project_id", "user_name_key" collate "C", "id")',
    },
    {
      name: 'users_project_id_email_key_index',
      expression:
        'create index "users_project_id_email_key_index" on "users" ("project_id", "email_key" collate "C", "id")',
    },
    {
      name: 'users_project_id_display_name_index',
      expression:
        'create index "users_project_id_display_name_index" on "users" ("project_id", lower("display_name") collate "C", "id")',
    },
    {
      name: 'users_project_id_family_name_index',
      expression:
        'create index "users_project_id_family_name_index" on "users" ("project_id", lower("family_name") collate "C")',
    },
    {
      name: 'users_open_invitation_index',
      expression:
        'create index "users_open_invitation_index" on "users" ("project_id", "id") where ("invited_at" is not null and "sign_in_hour" is null)',
    },
    // For searches (`user-list.ts`).
    {
      name: 'users_search_fold_index',
      expression: `create index "users_search_fold_index" on "users" using gin ((${searchedText('')}) gin_trgm_ops)`,
    },
    {
      name: 'users_search_grams_index',
      expression: `create index "users_search_grams_index" on "users" using gin (search_grams(${searchedText('')}))`,
    },
  ],
  // Maintained by triggers: count(*) is slow in a large project.
  triggers: [
    {
      name: 'users_count_insert',
      timing: 'after',
      events: ['insert'],
      forEach: 'statement',
      expression:
        'create trigger users_count_insert after insert on users referencing new table as changed for each statement execute function count_users()',
    },
    {
      name: 'users_count_delete',
      timing: 'after',
      events: ['delete'],
      forEach: 'statement',
      expression:
        'create trigger users_count_delete after delete on users referencing old table as changed for each statement execute function count_users()',
    },
  ],
  uniques: [
    { name: 'users_project_id_email_key_unique', properties: ['project', 'emailKey'] },
    { name: 'users_project_id_phone_unique', properties: ['project', 'phone'] },
  ],
});

/** An end user of one project. */
export class User extends schema.class {}
schema.setClass(User);
