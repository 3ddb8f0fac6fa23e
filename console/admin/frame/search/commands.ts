import { searchFold } from '@latchkey/contracts/search-fold';
import { t } from '../../language/language.ts';
import type { IconName } from '../../ui/icon.tsx';

export interface PaletteObject {
  kind: 'user' | 'application';
  /** Path of the object's page. */
  path: string;
  projectPath: string;
  id: string;
}

export interface Command {
  label: string;
  icon: IconName;
  to: string;
  /** Opens this dialog of the page; absent: opens only the page. */
  command?: string;
  keywords?: string;
}

/** The user or application whose page is open. */
export function objectAt(pathname: string): PaletteObject | undefined {
  const [, projectPath, kind, id] = /^(\/projects\/[^/]+)\/(users|applications)\/([^/]+)/.exec(pathname) ?? [];
  if (!projectPath || !id || id === 'new' || id === 'import') return undefined;
  return { kind: kind === 'users' ? 'user' : 'application', path: `${projectPath}/${kind}/${id}`, projectPath, id };
}

/** Lists of a project that are filtered already. */
export function filteredLists(projectPath: string): Command[] {
  return [
    {
      label: t('Deactivated'),
      icon: 'users',
      to: `${projectPath}/users?state=inactive`,
      keywords: t('disable block suspend'),
    },
  ];
}

/** Dialogs of the user's page, as {@link useCommand} gets them. */
export function userCommands(
  { path, projectPath, id }: PaletteObject,
  user: { active: boolean },
  mayChange: boolean,
): Command[] {
  const events: Command = {
    label: t('Show events'),
    icon: 'events',
    to: `${projectPath}/events?${new URLSearchParams({ user: id })}`,
    keywords: t('audit log'),
  };
  if (!mayChange) return [events];
  const open = (command: string, label: string, icon: IconName, keywords: string): Command => ({
    label,
    icon,
    to: path,
    command,
    keywords,
  });
  return [
    open('edit', t('Edit profile'), 'settings', t('change name')),
    user.active
      ? open('DEACTIVATE', t('Deactivate'), 'lock', t('disable block suspend'))
      : open('ACTIVATE', t('Activate'), 'check', t('enable unblock')),
    open('END_SESSIONS', t('End all sessions'), 'signOut', t('sign out logout')),
    open('RESET_FACTORS', t('Reset second factors'), 'shield', t('2fa mfa totp')),
    ...(user.active ? [open('recover', t('Grant recovery'), 'key', t('lost'))] : []),
    events,
    open('ERASE', t('Erase'), 'trash', t('delete remove gdpr')),
  ];
}

/** Tabs and dialogs of the application's page. */
export function clientCommands({ path }: PaletteObject, client: { disabled: boolean }, mayChange: boolean): Command[] {
  const tab = (part: string, label: string, icon: IconName, keywords: string): Command => ({
    label,
    icon,
    to: part ? `${path}/${part}` : path,
    keywords,
  });
  const tabs = [
    tab('', t('Quickstart'), 'code', t('snippets code')),
    tab('settings', t('Redirect URIs and settings'), 'settings', t('edit callback')),
    tab('keys', t('Keys and secrets'), 'key', t('api rotate')),
    tab('tokens', t('Tokens & logout'), 'clock', t('lifetime refresh')),
    tab('claims', t('Claims'), 'users', t('mapping')),
    tab('roles', t('Roles'), 'team', t('permissions')),
    tab('events', t('Show events'), 'events', t('audit log')),
  ];
  if (!mayChange) return tabs;
  const dialog = (command: string, label: string, icon: IconName, keywords: string): Command => ({
    ...tab('danger', label, icon, keywords),
    command,
  });
  return [
    ...tabs,
    client.disabled
      ? tab('danger', t('Enable'), 'check', t('enable activate'))
      : dialog('disable', t('Disable'), 'lock', t('disable deactivate')),
    dialog('delete', t('Delete application'), 'trash', t('remove')),
  ];
}

interface Wanted {
  label: string;
  detail?: string | undefined;
  keywords?: string | undefined;
}

const tokensOf = (text = '') =>
  searchFold(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

/** Rank of a choice for a word, 0 for the best match, 3 for the worst; -1 if it does not match. */
function rankOf({ label, detail, keywords }: Wanted, word: string): number {
  const [shown, others] = [tokensOf(`${label} ${detail ?? ''}`), tokensOf(keywords)];
  const begins = (token: string) => token.startsWith(word);
  return [shown.includes(word), others.includes(word), shown.some(begins), others.some(begins)].indexOf(true);
}

/** The choices that match all words, best first. A word matches the beginning of any word of the choice. */
export function matching<C extends Wanted>(groups: readonly (readonly C[])[], wanted: string): C[] {
  const words = tokensOf(wanted);
  return groups
    .flat()
    .map((choice) => ({ choice, ranks: words.map((word) => rankOf(choice, word)) }))
    .filter(({ ranks }) => !ranks.includes(-1))
    .sort((a, b) => Math.max(...a.ranks, 0) - Math.max(...b.ranks, 0))
    .map(({ choice }) => choice);
}
