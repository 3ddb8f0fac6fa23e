import { searchFold } from '@latchkey/contracts/search-fold';
import type { EntityManager } from '@mikro-orm/postgresql';
import { hourOf, orderedPage, type Place } from '../kernel/ordered-page.ts';
import { containing, exactTotal, type Total, totalOf } from '../kernel/page.ts';
import { inAllProjects } from '../kernel/scope.ts';
import { type Fragment, query, sql } from '../kernel/sql.ts';
import { customUrn } from './custom/definition.ts';
import type { CustomValues } from './custom/values.ts';
import { countRows } from './listing.ts';
import { addressKey, foldName } from './login.ts';
import { searchedText, User } from './user.entity.ts';
import { selectionOf, type UserRecord, withInstants } from './user-record.ts';

/** Conditions on users of a project; absent ones do not apply. */
export interface UserFilter {
  /** Words in a userName, login email, name or externalId, ignoring case and accents. */
  search?: string | undefined;
  active?: boolean | undefined;
  provenance?: User['provenance'] | undefined;
  /** Has set up a second factor. */
  hasFactor?: boolean | undefined;
  /** Last signed in at this time or later. */
  signedInSince?: Date | undefined;
  /** Has signed in, but not since this time. */
  notSignedInSince?: Date | undefined;
  /** Has ever signed in. */
  hasSignedIn?: boolean | undefined;
  /** Was invited, and has not signed in. */
  isInvited?: boolean | undefined;
  /** Is a member of this group. */
  groupId?: string | undefined;
  /** Is a member of this organization, suspended or not. */
  organizationId?: string | undefined;
  /** Is at home in this organization. */
  homeId?: string | undefined;
}

export const userOrders = ['created', 'name', 'user-name', 'email', 'last-sign-in'] as const;
export interface UserOrder {
  by: (typeof userOrders)[number];
  descending: boolean;
}
export const newestFirst: UserOrder = { by: 'created', descending: true };

const keys = {
  created: undefined,
  name: { column: sql`lower(r.display_name) collate "C"`, type: 'text' },
  'user-name': { column: sql`r.user_name_key collate "C"`, type: 'text' },
  email: { column: sql`r.email_key collate "C"`, type: 'text' },
  'last-sign-in': { column: sql`r.last_sign_in_at`, type: 'timestamptz', hour: sql`r.sign_in_hour` },
} as const;

/** A page of users, each with its position. `matches`: the results of a search, with `isLimited` if there are more. */
export async function listUsers(
  em: EntityManager,
  projectId: string,
  filter: UserFilter,
  { first, after, order = newestFirst }: { first: number; after: Place | null; order?: UserOrder },
): Promise<UserPage> {
  const all = matching(projectId, filter);
  const hits = isSearch(filter) ? await findHits(em, all) : null;
  const where = hits ? sql`r.project_id = ${projectId} and r.id = any(${hits.ids}::uuid[])` : all;
  const key = keys[order.by];
  const page = await orderedPage(em, { table: 'users', where, key, descending: order.descending, first, after });
  const ids = page.places.map(({ id }) => id);
  const users = ids.length === 0 ? [] : await em.find(User, { project: projectId, id: { $in: ids } });
  const byId = new Map(users.map((user) => [user.id, user]));
  // Omits users erased between the two reads.
  const places = page.places.filter(({ id }) => byId.has(id));
  const matches = hits && { count: hits.ids.length, isLimited: hits.isLimited };
  return { ...page, places, items: places.map(({ id }) => byId.get(id) as User), matches };
}

export interface UserPage {
  items: User[];
  places: Place[];
  hasNextPage: boolean;
  /** Null without a search. */
  matches: Total | null;
}

function isSearch({ search }: UserFilter): boolean {
  return wordsOf(search ?? '').length > 0;
}

/** All users of the project are always counted exactly. @param exact also those that a filter matches: reads them all */
export async function countUsers(
  em: EntityManager,
  projectId: string,
  filter: UserFilter,
  exact = false,
): Promise<Total> {
  const { search, ...others } = filter;
  const isAsked = isSearch({ search }) || Object.values(others).some((value) => value !== undefined);
  const where = isAsked ? matching(projectId, filter) : undefined;
  if (where && !exact) return totalOf(em, sql`from users r where ${where}`);
  return exactTotal(await countRows(em, 'users', projectId, where));
}

/** The condition on the row `r`. */
function matching(projectId: string, filter: UserFilter): Fragment {
  const { active, provenance, hasFactor, signedInSince, notSignedInSince, hasSignedIn, isInvited, groupId } = filter;
  const { homeId, organizationId } = filter;
  const words = wordsOf(filter.search ?? '');
  const conditions = [sql`r.project_id = ${projectId}`, sql`r.account_id is null`];
  if (active !== undefined) conditions.push(sql`r.active = ${active}`);
  if (provenance !== undefined) conditions.push(sql`r.provenance = ${provenance}`);
  if (hasFactor !== undefined) {
    // `offset 0`: looked up user by user. PostgreSQL would otherwise read all factors, however few users are asked for.
    const enrolled = sql`(exists (select 1 from enrolments e
      where e.project_id = r.project_id and e.user_id = r.id and e.verified_at is not null
        and (e.method <> 'sms' or e.phone is not null) offset 0)
      or exists (select 1 from credentials k join projects p on p.id = k.project_id
        where k.project_id = r.project_id and k.user_id = r.id and k.user_verified and k.revoked_at is null and p.passkeys offset 0))`;
    conditions.push(hasFactor ? enrolled : sql`not ${enrolled}`);
  }
  if (signedInSince !== undefined) {
    conditions.push(sql`r.last_sign_in_at >= ${signedInSince} and r.sign_in_hour >= ${hourOf(sql`${signedInSince}`)}`);
  }
  if (notSignedInSince !== undefined) {
    const hour = hourOf(sql`${notSignedInSince}`);
    conditions.push(sql`r.last_sign_in_at < ${notSignedInSince} and r.sign_in_hour <= ${hour}`);
  }
  if (hasSignedIn === true) conditions.push(sql`r.sign_in_hour is not null`);
  if (hasSignedIn === false) conditions.push(sql`r.sign_in_hour is null`);
  if (isInvited !== undefined) {
    const invited = sql`r.invited_at is not null and r.sign_in_hour is null`;
    conditions.push(isInvited ? sql`(${invited})` : sql`not (${invited})`);
  }
  if (groupId !== undefined) {
    conditions.push(sql`r.id = any(array(select m.user_id from group_members m
      where m.project_id = ${projectId}::uuid and m.group_id = ${groupId}::uuid))`);
  }
  if (organizationId !== undefined) {
    conditions.push(sql`r.id = any(array(select m.user_id from organization_memberships m
      where m.project_id = ${projectId}::uuid and m.organization_id = ${organizationId}::uuid))`);
  }
  if (homeId !== undefined) conditions.push(sql`r.organization_id = ${homeId}::uuid`);
  if (words.length > 0) conditions.push(containingWords(words));
  return sql.join(conditions, sql` and `);
}

/** Maximum number of users that a search finds; a list can sort and count them in one statement. */
const maxHits = 1000;
/** Further words of a search are ignored, and further characters of a word. */
const [maxWords, maxCharacters] = [10, 64];
/** The index has sequences of three characters, and a space before a word counts. */
const shortWord = 2;

const text = sql.raw(`(${searchedText('r.')})`);

/** The words of a search, folded. All must be found, in any order and any field. */
function wordsOf(search: string): string[] {
  const words = foldName(search).split(' ').filter(Boolean).map(addressKey);
  const folded = searchFold(words.join(' ')).split(' ').filter(Boolean);
  const cut = folded.map((word) => [...word].slice(0, maxCharacters).join(''));
  return [...new Set(cut)].slice(0, maxWords);
}

/** A search without letters and digits finds nothing: the indexes have neither. */
function containingWords(words: readonly string[]): Fragment {
  if (!words.some((word) => /[\p{L}\p{N}]/u.test(word))) return sql`false`;
  return sql.join(words.map(containingWord), sql` and `);
}

/**
 * The condition on the row `r`: a word is found anywhere; one of one or two characters of ASCII only at the beginning of a
 * word. Words of other scripts are looked up by their characters and pairs of them, which is exact for one or two.
 */
function containingWord(word: string): Fragment {
  const length = [...word].length;
  const others = word.replace(/[\0-\x7f]/g, '');
  if (others === '') return sql`${text} like ${containing(length <= shortWord ? ` ${word}` : word)}`;
  const grams = sql`search_grams${text} @> search_grams(${word}::text)`;
  if (length <= shortWord && others === word) return grams;
  const plain = (word.match(/[\0-\x7f]{3,}/g) ?? []).map((part) => sql`${text} like ${containing(part)}`);
  return sql.join([grams, ...plain, sql`strpos(${text}, ${word}) > 0`], sql` and `);
}

/** The users found; `isLimited` if there are more. */
interface Hits {
  ids: string[];
  isLimited: boolean;
}

/**
 * Ids of users that meet `where`. Row security would keep the index from being used (decisions/0104): this statement
 * runs without, and the rows of its result are read with it.
 */
async function findHits(em: EntityManager, where: Fragment): Promise<Hits> {
  const statement = sql<{ id: string }>`select r.id from users r where ${where} limit ${maxHits + 1}`;
  const found = await inAllProjects(() => query(em, statement));
  return { ids: found.slice(0, maxHits).map(({ id }) => id), isLimited: found.length > maxHits };
}

/** The columns of the export of users. */
export const exportedProperties = [
  'id',
  'userName',
  'externalId',
  'displayName',
  'givenName',
  'familyName',
  'email',
  'phone',
  'active',
  'provenance',
  'createdAt',
  'updatedAt',
  'lastSignInAt',
] as const satisfies readonly (keyof UserRecord)[];

export type ExportedUser = Pick<UserRecord, (typeof exportedProperties)[number]> & { custom?: CustomValues };

const exportPage = 500;

/** All users, newest first, one page at a time. @param custom names of custom attributes to include */
export async function* eachUser(
  reader: () => EntityManager,
  projectId: string,
  filter: UserFilter,
  custom: readonly string[] = [],
): AsyncGenerator<ExportedUser[]> {
  const properties = sql.raw(selectionOf(exportedProperties));
  const names = sql`array[${sql.join(custom)}]::text[]`;
  const selection =
    custom.length === 0
      ? properties
      : sql`${properties}, coalesce((select jsonb_object_agg(v.key, v.value)
          from jsonb_each(r.attributes->${customUrn}::text) v where v.key = any(${names})), '{}') as custom`;
  for (let after: string | null = null; ; ) {
    const beyond: Fragment = after === null ? sql`` : sql`and r.id < ${after}::uuid`;
    const page: ExportedUser[] = await query(
      reader(),
      sql<ExportedUser>`select ${selection} from users r
        where ${matching(projectId, filter)} ${beyond} order by r.id desc limit ${exportPage}`,
    );
    if (page.length > 0) yield page.map(withInstants);
    if (page.length < exportPage) return;
    after = page.at(-1)?.id ?? null;
  }
}
