import { part, usePrefetch, useQuery } from '../api.ts';
import { EventClientName, EventNames, EventUserName } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { FilterChip } from '../ui/lists/filters.tsx';
import { useListParams } from '../ui/lists/list-bar.tsx';
import { exactly } from '../ui/time.tsx';
import { sentenceOf } from './sentences.ts';

const short = (id: string) => `${id.slice(0, 8)}…`;

/** Active filters as chips, each with a button to remove it. */
export function EventChips() {
  const { get, set } = useListParams();
  const [user, client, type] = [get('user'), get('client'), get('type')];
  const names = user && client ? [part(EventUserName, { id: user }), part(EventClientName, { id: client })] : [];
  usePrefetch(EventNames, { userId: user ?? '', clientId: client ?? '' }, names);
  const userName = useQuery(EventUserName, { id: user ?? '' }, { pause: user === undefined });
  const clientName = useQuery(EventClientName, { id: client ?? '' }, { pause: client === undefined });
  const known = userName.data?.user;
  const types = type?.split(',') ?? [];
  const chips: [name: string, label: string, value: string | undefined][] = [
    ['user', t('User'), user && (known ? (known.displayName ?? known.userName) : short(user))],
    ['client', t('Application'), client && (clientName.data?.client?.name ?? short(client))],
    ['actor', t('By'), get('actor') && (get('actorName') ?? short(get('actor') as string))],
    ['subject', t('About'), get('subject') && (get('subjectName') ?? short(get('subject') as string))],
    [
      'organization',
      t('Organization'),
      get('organization') && (get('organizationName') ?? short(get('organization') as string)),
    ],
    ['request', t('Request'), get('request') && short(get('request') as string)],
    ['signIn', t('Sign-in'), get('signIn') && short(get('signIn') as string)],
    [
      'type',
      t('Type'),
      type && (types.length === 1 ? sentenceOf(type) : t('{count, number} types', { count: types.length })),
    ],
    ['since', t('After'), get('since') && exactly(get('since') as string)],
    ['until', t('Before'), get('until') && exactly(get('until') as string)],
  ];
  return chips.map(
    ([name, label, value]) =>
      value && (
        <FilterChip
          key={name}
          label={label}
          value={value}
          onRemove={() => set({ [name]: undefined, [`${name}Name`]: undefined })}
        />
      ),
  );
}
