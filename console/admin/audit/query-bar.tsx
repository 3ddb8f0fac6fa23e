import { useState } from 'react';
import { Listbox } from '../frame/search/listbox.tsx';
import { useSearch } from '../frame/search/use-search.ts';
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

/** Filter input with completions. @param projectId absent: no search by user or application name */
export function QueryBar({ projectId }: { projectId: string | undefined }) {
  const { set } = useListParams();
  const [text, setText] = useState('');
  const [, key = '', value = text] = keyed.exec(text.trimStart()) ?? [];
  const wanted = value.trim();
  const about = key.toLowerCase();
  const names = about === '' || ['user', 'client', 'app'].includes(about);
  const searched = projectId !== undefined && names && (wanted.length > 1 || about !== '');
  const { answer, pending } = useSearch(PaletteInProject, { projectId: projectId ?? '', search: wanted }, searched);
  const people = (searched ? (answer?.users.edges ?? []) : []).map(({ node }) => ({
    key: node.id,
    label: named('user', node.displayName ?? node.userName),
    detail: node.displayName ? node.userName : undefined,
    isFound: true,
    set: { user: node.id },
  }));
  const applications = (searched ? (answer?.clients.edges ?? []) : []).map(({ node }) => ({
    key: node.id,
    label: named('client', node.name),
    isFound: true,
    set: { client: node.id },
  }));
  const completions = ((): Completion[] => {
    if (about === 'user') return uuid.test(wanted) ? [{ key: 'id', label: wanted, set: { user: wanted } }] : people;
    if (about === 'client' || about === 'app') {
      return uuid.test(wanted) ? [{ key: 'id', label: wanted, set: { client: wanted } }] : applications;
    }
    if (about === 'type') return typesLike(wanted);
    if (about === 'result') return results(wanted);
    if (about === 'after' || about === 'since') return moments('since', wanted);
    if (about === 'before' || about === 'until') return moments('until', wanted);
    if (about === 'request' || uuid.test(wanted)) {
      if (!uuid.test(wanted)) return [];
      const of = (name: string) => ({ key: name, label: named(name, wanted), set: { [name]: wanted } });
      return about === 'request' ? [of('request')] : [of('request'), of('user'), of('client')];
    }
    const begun = Object.entries(beginnings)
      .filter(
        ([name]) => name.startsWith(wanted.toLowerCase()) && (projectId !== undefined || inInstance.includes(name)),
      )
      .map(([name, detail]) => ({ key: name, label: `${name}:`, detail, text: `${name}:` }));
    return wanted === '' ? begun : [...begun, ...people, ...applications, ...typesLike(wanted)];
  })();
  return (
    <Listbox
      isPopup
      label={t('Search events')}
      placeholder={(projectId ? Object.keys(beginnings) : inInstance).map((name) => `${name}:`).join('  ')}
      text={text}
      onText={setText}
      choices={completions.map(({ key: name, label, detail, isFound = false, set: values, text: next }) => ({
        key: name,
        label,
        detail,
        isFound,
        keepsOpen: next !== undefined,
        choose() {
          setText(next ?? '');
          if (values) set(values);
        },
      }))}
      pending={pending}
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
