import { roleNames } from '../access.tsx';
import type { EventRowFragment } from '../generated/operations.ts';
import { templateOf } from './sentences.ts';

export type AuditEvent = EventRowFragment;

export interface SentencePart {
  text: string;
  isName: boolean;
}

/** The sentence of an event in parts, with names marked. */
export function partsOf(event: AuditEvent): SentencePart[] {
  const parts = templateFor(event)
    .split(/(\{\w+\})/)
    .filter(Boolean)
    .map((part): SentencePart => {
      const name = /^\{(\w+)\}$/.exec(part)?.[1];
      return name === undefined ? { text: part, isName: false } : { text: nameOf(event, name), isName: true };
    });
  const { count, reason, fault } = event.detail ?? {};
  const why = reason ?? fault;
  if (event.result === 'FAILURE' && typeof why === 'string') {
    parts.push({ text: `: ${why.replaceAll(/[_-]/g, ' ')}`, isName: false });
  }
  if (typeof count === 'number' && count > 1) parts.push({ text: ` (${count} times)`, isName: false });
  const [first, ...rest] = parts;
  // Capitalize the first word unless it is a name.
  const names = [event.actor.name, event.subject?.name, event.person?.name];
  return first && !names.includes(first.text)
    ? [{ ...first, text: first.text.charAt(0).toUpperCase() + first.text.slice(1) }, ...rest]
    : parts;
}

const sessionEnds: Record<string, string> = {
  logout: '{person} signed out',
  replaced: 'A new sign-in replaced a session of {person}',
  deactivated: '{actor} deactivated {person}, which ended a session',
  revoked: '{actor} ended a session of {person}',
};

function templateFor(event: AuditEvent): string {
  const { type, detail, actor } = event;
  const isSignUp =
    type === 'user.created' &&
    detail?.['provenance'] === 'local' &&
    !actor.kind.startsWith('admin') &&
    actor.kind !== 'bootstrap-token';
  if (isSignUp) return '{subject} signed up';
  if (type === 'session.ended') return sessionEnds[String(detail?.['reason'])] ?? 'A session of {person} ended';
  const template = templateOf(type) ?? `{actor}: ${type.replaceAll(/[._-]/g, ' ')} {subject}`;
  return type.endsWith('updated') ? (changeTemplate(event) ?? template) : template;
}

const maxShownLength = 40;
const maxShownFields = 3;

/** "{actor} set Active from yes to no for {subject}"; undefined if the event names no field. */
function changeTemplate({ detail }: AuditEvent): string | undefined {
  const { changes, others } = detailsOf({ detail });
  const named = detail?.['changed'];
  const names = Array.isArray(named) ? named.filter((name) => typeof name === 'string') : [];
  const fields = [...new Set([...changes.map(([name]) => name), ...names])].map(fieldName).map(plain);
  const [only] = changes;
  if (fields.length === 0 || others.some(([name]) => name === 'added')) return undefined;
  if (only && fields.length === 1 && [only[1], only[2]].every((value) => isShort(value))) {
    const [, before, after] = only;
    if (after === none) return `{actor} removed ${fields[0]} ${plain(before)} of {subject}`;
    return `{actor} set ${fields[0]} ${before === none ? '' : `from ${plain(before)} `}to ${plain(after)} for {subject}`;
  }
  const shown = fields.slice(0, maxShownFields);
  const more = fields.length - shown.length;
  if (more > 0) return `{actor} changed ${shown.join(', ')} and ${more} more of {subject}`;
  const last = shown.pop();
  return `{actor} changed ${shown.length > 0 ? `${shown.join(', ')} and ` : ''}${last} of {subject}`;
}

const isShort = (value: string): boolean => value.length <= maxShownLength && !value.includes('\n');
/** Values are no placeholders. */
const plain = (value: string): string => value.replaceAll(/[{}]/g, ' ');

const actorKinds: Record<string, string> = {
  admin: 'an admin',
  'admin-token': 'an API token',
  'bootstrap-token': 'the bootstrap token',
  'setup-link': 'a setup link',
  scim: 'the directory',
  user: 'someone',
  client: 'an application',
  system: 'the system',
  anonymous: 'someone',
};

export function actorName({ actor }: Pick<AuditEvent, 'actor'>): string {
  const name = actor.name ?? actorKinds[actor.kind] ?? actor.kind;
  return actor.kind === 'scim' && actor.name ? `the directory (${actor.name})` : name;
}

function nameOf(event: AuditEvent, name: string): string {
  const { client, person, detail } = event;
  if (name === 'actor') return actorName(event);
  if (name === 'subject') return subjectName(event);
  if (name === 'person') return person?.name ?? 'someone';
  const value = detail?.[name];
  if (name === 'role' && typeof value === 'string' && event.type.startsWith('membership.')) {
    return roleNames[value.toUpperCase() as keyof typeof roleNames] ?? value;
  }
  if (name === 'client') return client?.name ?? (typeof value === 'string' ? value : 'an application');
  return typeof value === 'string' ? value : '…';
}

/** Refusals of an application's requests. */
const applicationTypes: readonly string[] = ['authorization.refused', 'client.rejected', 'token.refused'];

function subjectName({ subject, person, detail, type }: AuditEvent): string {
  if (!subject) {
    if (applicationTypes.includes(type)) return 'an unknown application';
    if (type === 'signin.refused') return 'an unnamed user';
    return detail?.['count'] === undefined ? '' : 'several users';
  }
  if (subject.name) return subject.name;
  if (subject.kind === 'user' && person) return person.name;
  const named = detail?.['name'] ?? detail?.['email'];
  return typeof named === 'string' ? named : subject.kind === 'user' ? 'someone' : `a ${subject.kind}`;
}

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
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? none : value.map(formatValue).join('\n');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** `accessTokenTtlSeconds` as readable words. */
export function fieldName(name: string): string {
  const spaced = name.replace(/([A-Z])/g, ' $1').toLowerCase();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
