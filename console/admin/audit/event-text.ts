import { roleNames } from '../access.tsx';
import type { EventFactsFragment, EventOriginFragment } from '../generated/operations.ts';
import { locale, serverText, t, template } from '../language/language.ts';
import { fieldName } from './field-names.ts';
import { templateOf } from './sentences.ts';

/** Admins of an organization do not get the origin. */
export type AuditEvent = EventFactsFragment & Partial<EventOriginFragment>;

export interface SentencePart {
  text: string;
  isName: boolean;
}

/** The sentence of an event in parts, with names marked. */
export function partsOf(event: AuditEvent, sentence: string = templateFor(event)): SentencePart[] {
  const parts = sentence
    .split(/(\{\w+\})/)
    .filter(Boolean)
    .map((part): SentencePart => {
      const name = /^\{(\w+)\}$/.exec(part)?.[1];
      return name === undefined ? { text: part, isName: false } : { text: nameOf(event, name), isName: true };
    });
  const { count, reason, fault } = event.detail ?? {};
  const why = reason ?? fault;
  if (isFailed(event) && typeof why === 'string') {
    const fault = event.type === 'token.refused' ? tokenFaults[why] : undefined;
    const reason = fault ?? serverText(why.replaceAll(/[_-]/g, ' '));
    parts.push({ text: t(': {reason}', { reason }), isName: false });
  }
  if (typeof count === 'number' && count > 1) {
    parts.push({ text: ` ${t('({count, number} times)', { count })}`, isName: false });
  }
  const [first, ...rest] = parts;
  // Capitalize the first word unless it is a name.
  const names = [event.actor.name, event.subject?.name, event.person?.name];
  return first && !names.includes(first.text) ? [{ ...first, text: capitalized(first.text) }, ...rest] : parts;
}

/** Whether the event is a failure to the reader: a sign-up that waits for an admin is not one. */
export const isFailed = (event: AuditEvent): boolean => event.result === 'FAILURE' && !waitsForApproval(event);

const waitsForApproval = ({ type, detail }: AuditEvent): boolean =>
  type === 'signin.refused' && detail?.['fault'] === 'approval-required';

const capitalized = (text: string): string => text.charAt(0).toLocaleUpperCase(locale) + text.slice(1);

/** Refusals of codes and tokens whose recorded reason alone does not explain them. */
const tokenFaults: Record<string, string> = {
  mismatch: t('wrong client, redirect URI or code verifier'),
  user: t('the user is deactivated or erased'),
  scope: t('more scopes than granted'),
  target: t('requested API not granted'),
  policy: t('the sign-in no longer meets the policy'),
};

const sessionEnds: Record<string, string> = {
  logout: template('{person} signed out'),
  replaced: template('A new sign-in replaced a session of {person}'),
  revoked: template('{actor} ended a session of {person}'),
};

function templateFor(event: AuditEvent): string {
  const { type, detail, actor } = event;
  const isSignUp =
    type === 'user.created' &&
    detail?.['provenance'] === 'local' &&
    !actor.kind.startsWith('admin') &&
    actor.kind !== 'bootstrap-token';
  if (isSignUp) return template('{subject} signed up');
  if (waitsForApproval(event)) return template('{subject} waits for approval');
  if (type === 'session.ended')
    return sessionEnds[String(detail?.['reason'])] ?? template('A session of {person} ended');
  const sentence = templateOf(type) ?? `{actor}: ${type.replaceAll(/[._-]/g, ' ')} {subject}`;
  if (type === 'group.updated') return membersTemplate(detail) ?? changeTemplate(event) ?? sentence;
  return type.endsWith('updated') ? (changeTemplate(event) ?? sentence) : sentence;
}

/** "{actor} added 2 members to the group {subject}"; undefined if more has changed. */
function membersTemplate(detail: AuditEvent['detail']): string | undefined {
  const { added, removed, before } = detail ?? {};
  const count = added || removed;
  if (before || typeof count !== 'number' || (added && removed)) return undefined;
  const values = { count, actor: '{actor}', subject: '{subject}' };
  return added
    ? t('{actor} added {count, plural, one {# member} other {# members}} to the group {subject}', values)
    : t('{actor} removed {count, plural, one {# member} other {# members}} from the group {subject}', values);
}

const maxShownLength = 40;
const maxShownFields = 3;

/** "{actor} set Phone from 1 to 2 for {subject}"; undefined if the event names no field. */
function changeTemplate({ type, detail }: AuditEvent): string | undefined {
  const { changes, others } = detailsOf({ detail });
  const changed = detail?.['changed'];
  const names = Array.isArray(changed) ? changed.filter((name) => typeof name === 'string') : [];
  const fields = [...new Set([...changes.map(([name]) => name), ...names])].map(fieldName).map(plain);
  const [only] = changes;
  const isMore = others.some(([name, value]) => ['added', 'removed'].includes(name) && value !== '0');
  if (fields.length === 0 || isMore) return undefined;
  if (only && fields.length === 1 && [only[1], only[2]].every((value) => isShort(value))) {
    if (type === 'user.updated' && only[0] === 'active') {
      const isActive = fieldsOf(detail?.['after'])['active'] === true;
      return isActive ? template('{actor} activated {subject}') : template('{actor} deactivated {subject}');
    }
    const [field, before, after] = [fields[0], plain(only[1]), plain(only[2])];
    if (after === none) return filled(template('{actor} removed {field} {before} of {subject}'), { field, before });
    if (before === none) return filled(template('{actor} set {field} to {after} for {subject}'), { field, after });
    const sentence = template('{actor} set {field} from {before} to {after} for {subject}');
    return filled(sentence, { field, before, after });
  }
  const more = fields.length - maxShownFields;
  const named = [...fields.slice(0, maxShownFields), ...(more > 0 ? [t('{more} more', { more })] : [])];
  const list = new Intl.ListFormat(locale, { type: 'conjunction' });
  return filled(template('{actor} changed {fields} of {subject}'), { fields: list.format(named) });
}

/** Fills in values, and leaves the other placeholders. */
function filled(sentence: string, values: Record<string, string | undefined>): string {
  return sentence.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

const isShort = (value: string): boolean => value.length <= maxShownLength && !value.includes('\n');
/** Values are not placeholders. */
const plain = (value: string): string => value.replaceAll(/[{}]/g, ' ');

const actorKinds: Record<string, string> = {
  admin: t('an admin'),
  'admin-token': t('an API token'),
  'bootstrap-token': t('the bootstrap token'),
  'setup-link': t('a setup link'),
  'portal-link': t('a portal link'),
  scim: t('the directory'),
  user: t('someone'),
  client: t('an application'),
  system: t('the system'),
  anonymous: t('someone'),
};

export function actorName({ actor }: Pick<AuditEvent, 'actor'>): string {
  // The server's name for the bootstrap token is in English.
  const own = actor.kind === 'bootstrap-token' ? undefined : actor.name;
  const name = own ?? actorKinds[actor.kind] ?? actor.kind;
  return actor.kind === 'scim' && actor.name ? t('the directory ({name})', { name: actor.name }) : name;
}

function nameOf(event: AuditEvent, name: string): string {
  const { client, person, detail } = event;
  if (name === 'actor') return actorName(event);
  if (name === 'subject') return subjectName(event);
  if (name === 'person') return person?.name ?? t('someone');
  const value = detail?.[name];
  if (name === 'role' && typeof value === 'string' && event.type.startsWith('membership.')) {
    return roleNames[value.toUpperCase() as keyof typeof roleNames] ?? value;
  }
  if (name === 'client') return client?.name ?? (typeof value === 'string' ? value : t('an application'));
  return typeof value === 'string' ? value : '…';
}

/** Refusals of an application's requests. */
const applicationTypes: readonly string[] = [
  'authorization.refused',
  'client.rejected',
  'logout.address_refused',
  'token.refused',
];

function subjectName({ subject, person, detail, type }: AuditEvent): string {
  if (!subject) {
    if (applicationTypes.includes(type)) return t('an unknown application');
    if (type === 'signin.refused') return t('an unnamed user');
    return detail?.['count'] === undefined ? '' : t('several users');
  }
  if (subject.name) return subject.name;
  if (subject.kind === 'user' && person) return person.name;
  const named = detail?.['name'] ?? detail?.['email'];
  return typeof named === 'string' ? named : kindName(subject.kind);
}

/** The text that is shown for a subject without a name. */
export const kindName = (kind: string): string => (kind === 'user' ? t('someone') : serverText(kind));

/** Changed values as before and after, the sign-in, and the other details. */
export function detailsOf({ detail }: Pick<AuditEvent, 'detail'>): {
  changes: [string, string, string][];
  others: [string, string][];
  signInId: string | undefined;
} {
  const { before, after, signInId, ...rest } = detail ?? {};
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  const changes = Object.keys({ ...old, ...now }).map((name): [string, string, string] => [
    name,
    formatValue(old[name]),
    formatValue(now[name]),
  ]);
  return {
    changes,
    others: Object.entries(rest).map(([name, value]) => [name, formatValue(value)]),
    signInId: typeof signInId === 'string' ? signInId : undefined,
  };
}

/** Older events have a bare value. */
function fieldsOf(values: unknown): Record<string, unknown> {
  if (values === undefined || values === null) return {};
  return typeof values === 'object' && !Array.isArray(values) ? (values as Record<string, unknown>) : { value: values };
}

const none = '–';

function formatValue(value: unknown): string {
  if (value === undefined || value === null || value === '') return none;
  if (typeof value === 'boolean') return value ? t('yes') : t('no');
  if (Array.isArray(value)) return value.length === 0 ? none : value.map(formatValue).join('\n');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
