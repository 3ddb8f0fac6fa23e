import { useState } from 'react';
import { Listbox } from '../frame/search/listbox.tsx';
import { isSearchable, useSearch } from '../frame/search/use-search.ts';
import { PaletteInProject } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useListParams } from '../ui/lists/list-bar.tsx';
import { exactly } from '../ui/time.tsx';
import { momentOf } from './event-query.ts';
import { allTypes, groupNames, sentenceOf } from './sentences.ts';

interface Completion {
  key: string;
  label: string;
  detail?: string | undefined;
  isFound?: boolean;
  /** Filter values to set; text: the input's new text. */
  set?: Record<string, string | undefined>;
  text?: string;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const keyed = /^(user|client|app|type|result|after|since|before|until|request):\s*(.*)$/i;

/** Names of filters, with a description of each. */
const beginnings = {
  user: t('events by or about a user'),
  client: t('events of an application'),
  type: t('event type'),
  result: t('success or failure'),
  after: t('2026-03-01, 2026-03-01 14:30, 2h or yesterday'),
  before: t('same formats'),
} as const;
const inInstance = ['type', 'result', 'after', 'before'];
const shownTypes = 12;

const named = (name: string, value: string) => `${name}: ${value}`;

function typesLike(wanted: string): Completion[] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const groups = Object.entries(groupNames)
    .filter(([group, name]) => fits(`${group} ${name}`))
    .map(([group, name]) => ({
      key: `group ${group}`,
      label: t('All of: {name}', { name }),
      set: { group, type: undefined },
    }));
  const types = allTypes
    .filter((type) => fits(`${type} ${sentenceOf(type)}`))
    .slice(0, shownTypes)
    .map((type) => ({ key: type, label: type, detail: sentenceOf(type), set: { type, group: undefined } }));
  return [...groups, ...types];
}

function moments(name: 'since' | 'until', wanted: string): Completion[] {
  const suggested = wanted === '' ? ['today', 'yesterday', '2h', '7d'] : [wanted];
  return suggested.flatMap((text) => {
    const at = momentOf(text);
    if (!at) return [];
    const other = name === 'since' ? { period: undefined } : {};
    return [{ key: text, label: text, detail: exactly(at.toISOString()), set: { [name]: at.toISOString(), ...other } }];
  });
}

function results(wanted: string): Completion[] {
  return (['SUCCESS', 'FAILURE'] as const)
    .filter((result) => result.toLowerCase().startsWith(wanted.toLowerCase()))
    .map((result) => ({ key: result, label: result.toLowerCase(), set: { result } }));
}

function beginningsLike(wanted: string, isProject: boolean): Completion[] {
  return Object.entries(beginnings)
    .filter(([name]) => name.startsWith(wanted.toLowerCase()) && (isProject || inInstance.includes(name)))
    .map(([name, detail]) => ({ key: name, label: `${name}:`, detail, text: `${name}:` }));
}

function identified(names: readonly string[], id: string): Completion[] {
  return names.map((name) => ({ key: name, label: named(name, id), set: { [name]: id } }));
}

/** Users and applications that match. @param about name of a filter; empty: any */
function useFound(projectId: string | undefined, about: string, wanted: string) {
  const isNamed = about === '' || ['user', 'client', 'app'].includes(about);
  const isSearched = projectId !== undefined && isNamed && (isSearchable(wanted) || about !== '');
  const { answer, pending } = useSearch(PaletteInProject, { projectId: projectId ?? '', search: wanted }, isSearched);
  const found = isSearched ? answer : undefined;
  const users = (found?.users.edges ?? []).map(({ node: { id, displayName, userName } }) => ({
    key: id,
    label: named('user', displayName ?? userName),
    detail: displayName ? userName : undefined,
    isFound: true,
    set: { user: id },
  }));
  const clients = (found?.clients.edges ?? []).map(({ node: { id, name } }) => ({
    key: id,
    label: named('client', name),
    isFound: true,
    set: { client: id },
  }));
  return { users, clients, pending };
}

type Found = Record<'users' | 'clients', readonly Completion[]>;

function completionsOf(about: string, wanted: string, { users, clients }: Found, isProject: boolean): Completion[] {
  const isId = uuid.test(wanted);
  const byId = (name: string) => [{ key: 'id', label: wanted, set: { [name]: wanted } }];
  if (about === 'user') return isId ? byId('user') : [...users];
  if (about === 'client' || about === 'app') return isId ? byId('client') : [...clients];
  if (about === 'type') return typesLike(wanted);
  if (about === 'result') return results(wanted);
  if (about === 'after' || about === 'since') return moments('since', wanted);
  if (about === 'before' || about === 'until') return moments('until', wanted);
  if (about === 'request') return isId ? identified(['request'], wanted) : [];
  if (isId) return identified(['request', 'user', 'client'], wanted);
  const begun = beginningsLike(wanted, isProject);
  return wanted === '' ? begun : [...begun, ...users, ...clients, ...typesLike(wanted)];
}

/** Filter input with completions. @param projectId absent: no search by user or application name */
export function QueryBar({ projectId }: { projectId: string | undefined }) {
  const { set } = useListParams();
  const [text, setText] = useState('');
  const [, key = '', value = text] = keyed.exec(text.trimStart()) ?? [];
  const [about, wanted] = [key.toLowerCase(), value.trim()];
  const isProject = projectId !== undefined;
  const found = useFound(projectId, about, wanted);
  return (
    <Listbox
      isPopup
      label={t('Search events')}
      placeholder={(isProject ? Object.keys(beginnings) : inInstance).map((name) => `${name}:`).join('  ')}
      text={text}
      onText={setText}
      choices={completionsOf(about, wanted, found, isProject).map(({ set: values, text: next, ...choice }) => ({
        isFound: false,
        ...choice,
        keepsOpen: next !== undefined,
        choose() {
          setText(next ?? '');
          if (values) set(values);
        },
      }))}
      pending={found.pending}
      nothing={nothing(about)}
    />
  );
}

function nothing(about: string): string {
  if (['after', 'since', 'before', 'until'].includes(about))
    return t('Use a day (2026-03-01) or a time (2026-03-01 14:30).');
  if (about === 'request') return t('A request ID is a UUID, as shown in errors.');
  return t('No matches');
}
