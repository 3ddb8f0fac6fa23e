import type { EntityManager } from '@mikro-orm/postgresql';
import { mappedAttributes } from '../../claims/mapped-attributes.ts';
import type { Actor } from '../../kernel/actor.ts';
import { refuse } from '../../kernel/problem.ts';
import type { Project } from '../../projects/project.entity.ts';
import { type ShownCustomValue, shownCustomValues } from '../../users/custom/own-values.ts';
import type { CustomSchema } from '../../users/custom/values.ts';
import { addressOf, editedProfile, type PostalAddress, type ProfileChange } from '../../users/edits/profile-edit.ts';
import { profileOf } from '../../users/profile.ts';
import type { User } from '../../users/user.entity.ts';
import { valuesOf } from '../../users/user-record.ts';
import type { Users } from '../../users/users.ts';

/** The attributes that users may edit themselves, and where claims read them from (paths of SCIM). */
const paths = {
  displayName: ['displayName'],
  givenName: ['name.givenName'],
  familyName: ['name.familyName'],
  locale: ['locale', 'preferredLanguage'],
  zoneinfo: ['timezone'],
  birthdate: ['birthdate'],
  address: ['formatted', 'streetAddress', 'locality', 'region', 'postalCode', 'country'].map(
    (part) => `address.${part}`,
  ),
} as const satisfies Record<keyof ProfileChange, readonly string[]>;

export type OwnField = keyof typeof paths;

const fields = Object.keys(paths) as OwnField[];

/** Applications decide by age, and send goods to addresses: a change needs a fresh sign-in. */
const sensitive: readonly OwnField[] = ['birthdate', 'address'];

/** A user's own profile. */
export interface OwnProfile {
  displayName: string | null;
  givenName: string | null;
  familyName: string | null;
  locale: string | null;
  zoneinfo: string | null;
  birthdate: string | null;
  address: PostalAddress | null;
  /** Custom attributes that the user may see and has a value for; read-only. */
  custom: ShownCustomValue[];
  /** Fields that the user cannot edit. */
  locked: ReadonlySet<OwnField>;
}

export async function ownProfile(
  em: EntityManager,
  project: Project,
  user: User,
  schema: CustomSchema,
): Promise<OwnProfile> {
  const { locale = null, zoneinfo = null, birthdate = null } = profileOf(user);
  const { displayName = null, givenName = null, familyName = null } = user;
  return {
    ...{ displayName, givenName, familyName, locale, zoneinfo, birthdate },
    address: addressOf(user.attributes),
    custom: shownCustomValues(schema, user).filter(
      ({ attribute, hasValue }) => hasValue && attribute.visibleTo.includes('user'),
    ),
    locked: await lockedFields(em, project.id),
  };
}

/**
 * Edits the user's own profile. Joins the transaction that holds the user's lock. Refuses `invalid`, naming the field:
 * also for a locked one.
 *
 * @param checkFresh refuses if the sign-in is not fresh
 */
export async function editOwnProfile(
  { users, now }: { users: Pick<Users, 'change'>; now: Date },
  em: EntityManager,
  { project, user, actor }: { project: Project; user: User; actor: Actor },
  change: ProfileChange,
  checkFresh: () => Promise<void>,
): Promise<void> {
  const wanted = fields.filter((field) => change[field] !== undefined);
  if (wanted.some((field) => sensitive.includes(field))) await checkFresh();
  const locked = await lockedFields(em, project.id);
  for (const field of wanted) {
    if (locked.has(field)) refuse({ code: 'invalid', field, reason: 'is locked' });
  }
  const edit = Object.fromEntries(wanted.map((field) => [field, change[field]])) as ProfileChange;
  await users.change(em, project.id, user.id, (current) => editedProfile(valuesOf(current), edit, now), actor);
}

/** Fields that claims of an application are mapped from: an administrator may rely on them. */
async function lockedFields(em: EntityManager, projectId: string): Promise<Set<OwnField>> {
  const mapped = await mappedAttributes(em, projectId);
  return new Set(fields.filter((field) => paths[field].some((path) => mapped.has(path))));
}
