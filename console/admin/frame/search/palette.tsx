import { Modal, useMantineColorScheme } from '@mantine/core';
import { useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { useAccess } from '../../access.tsx';
import { useQuery } from '../../api.ts';
import { PaletteClient, PaletteInProject, PaletteProjects, PaletteUser } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { useInstancePlaces } from '../navigation.tsx';
import { projectPlaces } from '../places.ts';
import { clientCommands, matching, objectAt, userCommands } from './commands.ts';
import { type Choice, Listbox } from './listbox.tsx';
import { useSearch } from './use-search.ts';

interface PaletteProps {
  opened: boolean;
  onClose(): void;
  projectId: string | undefined;
  /** The text at first. */
  typed: string;
}

/** Command palette: pages, applications, users, groups and projects. */
export function Palette({ opened, onClose, projectId, typed }: PaletteProps) {
  return (
    <Modal.Root
      opened={opened}
      onClose={onClose}
      size="lg"
      padding={0}
      centered={false}
      yOffset="12vh"
      transitionProps={{ duration: 0 }}
    >
      <Modal.Overlay />
      <Modal.Content aria-label={t('Search or go to')}>
        {opened && <Search projectId={projectId} typed={typed} onClose={onClose} />}
      </Modal.Content>
    </Modal.Root>
  );
}

function Search({ projectId, typed, onClose }: Omit<PaletteProps, 'opened'>) {
  const [text, setText] = useState(typed);
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const instance = useInstancePlaces();
  const { mayChange, isOwner } = useAccess(projectId);
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const wanted = text.trim();
  const isProject = projectId !== undefined;
  const inProject = useSearch(
    PaletteInProject,
    { projectId: projectId ?? '', search: wanted },
    isProject && wanted.length > 1,
  );
  const inInstance = useSearch(PaletteProjects, { search: wanted }, !isProject && wanted.length > 1);
  const { answer, pending } = isProject ? inProject : inInstance;
  const object = objectAt(pathname);
  const user = useQuery(PaletteUser, { id: object?.id ?? '' }, { pause: object?.kind !== 'user' }).data?.user;
  const client = useQuery(PaletteClient, { id: object?.id ?? '' }, { pause: object?.kind !== 'application' }).data
    ?.client;

  const go = (group: string, icon: IconName, label: string, to: string, more: GoOptions = {}): Choice => ({
    isFound: false,
    key: `${group} ${label} ${to}`,
    group,
    label,
    detail: more.detail,
    keywords: more.keywords,
    icon: <Icon name={icon} size={18} />,
    choose: () => {
      onClose();
      void navigate(to, { state: more.command ? { command: more.command } : null });
    },
  });
  const commands = [
    ...(object?.kind === 'user' && user ? userCommands(object, user, mayChange) : []),
    ...(object?.kind === 'application' && client ? clientCommands(object, client, mayChange) : []),
  ].map(({ icon, label, to, ...more }) =>
    go(object?.kind === 'user' ? t('On this user') : t('On this application'), icon, label, to, more),
  );
  const groups = [...(isProject ? projectPlaces(projectId) : []), { label: t('Instance'), places: instance }];
  const places = groups.flatMap(({ label: group, places: list }) =>
    list.map(({ label, to, icon, keywords }) => go(t('Go to'), icon, label, to, { detail: group, keywords })),
  );
  const actions: Choice[] = [
    ...(projectId && mayChange
      ? [
          go(t('Actions'), 'plus', t('Create application'), `/projects/${projectId}/applications/new`, {
            keywords: t('add new client'),
          }),
          go(t('Actions'), 'plus', t('Import users'), `/projects/${projectId}/users/import`, {
            keywords: t('add csv'),
          }),
        ]
      : []),
    ...(isOwner
      ? [go(t('Actions'), 'plus', t('Create project'), '/projects?new', { keywords: t('add new tenant') })]
      : []),
    {
      key: 'scheme',
      isFound: false,
      group: t('Actions'),
      label: colorScheme === 'dark' ? t('Switch to light colors') : t('Switch to dark colors'),
      keywords: t('theme colors'),
      icon: <Icon name={colorScheme === 'dark' ? 'sun' : 'moon'} size={18} />,
      choose: () => {
        setColorScheme(colorScheme === 'dark' ? 'light' : 'dark');
        onClose();
      },
    },
  ];
  const found = wanted.length > 1 && answer ? foundIn(answer, projectId, go) : [];
  const choices = [...matching([commands, places, actions], wanted), ...found];
  return (
    <Listbox
      label={t('Search or go to')}
      placeholder={t('Pages, applications, users, groups, projects')}
      text={text}
      onText={setText}
      choices={choices}
      pending={pending}
      nothing={t('No matches for “{wanted}”', { wanted })}
    />
  );
}

interface GoOptions {
  detail?: string | undefined;
  keywords?: string | undefined;
  /** Runs on the page that opens: {@link useCommand}. */
  command?: string | undefined;
}

interface Found {
  clients?: { edges: { node: { id: string; name: string } }[] };
  users?: { edges: { node: { id: string; userName: string; displayName?: string | null } }[] };
  groups?: { edges: { node: { id: string; displayName: string } }[] };
  projects: { edges: { node: { id: string; name: string } }[] };
}

type Go = (group: string, icon: IconName, label: string, to: string, more?: GoOptions) => Choice;

function foundIn(found: Found | undefined, projectId: string | undefined, go: Go): Choice[] {
  const clients = found?.clients?.edges ?? [];
  const users = found?.users?.edges ?? [];
  const groups = found?.groups?.edges ?? [];
  const projects = found?.projects.edges ?? [];
  return [
    ...clients.map(({ node }) =>
      go(t('Applications'), 'applications', node.name, `/projects/${projectId}/applications/${node.id}`),
    ),
    ...users.map(({ node: { id, userName, displayName } }) =>
      go(t('Users'), 'users', displayName ?? userName, `/projects/${projectId}/users/${id}`, {
        detail: displayName ? userName : undefined,
      }),
    ),
    ...groups.map(({ node }) =>
      go(t('Groups'), 'groups', node.displayName, `/projects/${projectId}/groups/${node.id}`),
    ),
    ...projects.map(({ node }) => go(t('Projects'), 'projects', node.name, `/projects/${node.id}/overview`)),
  ].map((choice) => ({ ...choice, isFound: true }));
}
