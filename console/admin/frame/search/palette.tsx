import { Modal, useMantineColorScheme } from '@mantine/core';
import { useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { useAccess } from '../../access.tsx';
import { useQuery } from '../../api.ts';
import {
  PaletteClient,
  PaletteInProject,
  type PaletteInProjectQuery,
  PaletteProjects,
  type PaletteProjectsQuery,
  PaletteUser,
} from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { useInstancePlaces, useProjectPlaces } from '../navigation.tsx';
import { type Command, clientCommands, filteredLists, matching, objectAt, userCommands } from './commands.ts';
import { type Choice, Listbox } from './listbox.tsx';
import { isSearchable, useSearch } from './use-search.ts';

interface PaletteProps {
  opened: boolean;
  onClose(): void;
  projectId: string | undefined;
  /** The initial text. */
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
  const wanted = text.trim();
  const go = useGo(onClose);
  const known = [useCommands(projectId, go), usePlaces(projectId, go), useActions(projectId, go, onClose)];
  const { found, pending } = useFound(projectId, wanted, go);
  return (
    <Listbox
      label={t('Search or go to')}
      placeholder={t('Pages, applications, users, groups, projects')}
      text={text}
      onText={setText}
      choices={[...matching(known, wanted), ...found]}
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

type Go = (group: string, icon: IconName, label: string, to: string, options?: GoOptions) => Choice;
type ProjectId = string | undefined;

/** Makes choices that open a page. */
function useGo(onClose: () => void): Go {
  const navigate = useNavigate();
  return (group, icon, label, to, { command, ...words } = {}) => ({
    isFound: false,
    key: `${group} ${label} ${to}`,
    group,
    label,
    ...words,
    icon: <Icon name={icon} size={18} />,
    choose: () => {
      onClose();
      void navigate(to, { state: command ? { command } : null });
    },
  });
}

/** Commands for the user or application whose page is open. */
function useCommands(projectId: ProjectId, go: Go): Choice[] {
  const { mayChange } = useAccess(projectId);
  const object = objectAt(useLocation().pathname);
  const id = object?.id ?? '';
  const user = useQuery(PaletteUser, { id }, { pause: object?.kind !== 'user' }).data?.user;
  const client = useQuery(PaletteClient, { id }, { pause: object?.kind !== 'application' }).data?.client;
  const chosen = (group: string, commands: readonly Command[]) =>
    commands.map(({ icon, label, to, ...options }) => go(group, icon, label, to, options));
  if (object?.kind === 'user' && user) return chosen(t('On this user'), userCommands(object, user, mayChange));
  if (object?.kind === 'application' && client)
    return chosen(t('On this application'), clientCommands(object, client, mayChange));
  return [];
}

function usePlaces(projectId: ProjectId, go: Go): Choice[] {
  const instance = { label: t('Instance'), places: useInstancePlaces() };
  const groups = [...useProjectPlaces(projectId), instance];
  const lists = projectId === undefined ? [] : filteredLists(`/projects/${projectId}`);
  return [
    ...groups.flatMap(({ label: detail, places }) =>
      places.map(({ label, to, icon, keywords }) => go(t('Go to'), icon, label, to, { detail, keywords })),
    ),
    ...lists.map(({ label, to, icon, keywords }) => go(t('Go to'), icon, label, to, { detail: t('Users'), keywords })),
  ];
}

function useActions(projectId: ProjectId, go: Go, onClose: () => void): Choice[] {
  const { mayChange, isOwner } = useAccess(projectId);
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const isDark = colorScheme === 'dark';
  const create = (label: string, to: string, keywords: string) => go(t('Actions'), 'plus', label, to, { keywords });
  const project = `/projects/${projectId}`;
  return [
    ...(projectId && mayChange
      ? [
          create(t('Create application'), `${project}/applications/new`, t('add new client')),
          create(t('Import users'), `${project}/users/import`, t('add csv')),
        ]
      : []),
    ...(isOwner ? [create(t('Create project'), '/projects?new', t('add new tenant'))] : []),
    {
      key: 'scheme',
      isFound: false,
      group: t('Actions'),
      label: isDark ? t('Switch to light colors') : t('Switch to dark colors'),
      keywords: t('theme colors'),
      icon: <Icon name={isDark ? 'sun' : 'moon'} size={18} />,
      choose: () => {
        setColorScheme(isDark ? 'light' : 'dark');
        onClose();
      },
    },
  ];
}

/** Results of the server's search in the project; without a project, in the instance. */
function useFound(projectId: ProjectId, wanted: string, go: Go): { found: Choice[]; pending: boolean } {
  const isLong = isSearchable(wanted);
  const isProject = projectId !== undefined;
  const inProject = useSearch(PaletteInProject, { projectId: projectId ?? '', search: wanted }, isProject && isLong);
  const inInstance = useSearch(PaletteProjects, { search: wanted }, !isProject && isLong);
  const { answer, pending } = isProject ? inProject : inInstance;
  return { found: isLong && answer ? foundIn(answer, projectId, go) : [], pending };
}

type Found = Partial<PaletteInProjectQuery> & PaletteProjectsQuery;

function foundIn({ clients, users, groups, organizations, projects }: Found, projectId: ProjectId, go: Go): Choice[] {
  return [
    ...(clients?.edges ?? []).map(({ node }) =>
      go(t('Applications'), 'applications', node.name, `/projects/${projectId}/applications/${node.id}`, {
        detail: node.disabled ? t('Disabled') : undefined,
      }),
    ),
    ...(users?.edges ?? []).map(({ node: { id, userName, displayName, active } }) =>
      go(t('Users'), 'users', displayName ?? userName, `/projects/${projectId}/users/${id}`, {
        detail: [displayName && userName, !active && t('Deactivated')].filter(Boolean).join(' · '),
      }),
    ),
    ...(groups?.edges ?? []).map(({ node }) =>
      go(t('Groups'), 'groups', node.displayName, `/projects/${projectId}/groups/${node.id}`),
    ),
    ...(organizations?.edges ?? []).map(({ node: { id, name } }) =>
      go(t('Organizations'), 'building', name, `/projects/${projectId}/organizations/${id}`),
    ),
    ...projects.edges.map(({ node }) => go(t('Projects'), 'projects', node.name, `/projects/${node.id}/overview`)),
  ].map((choice) => ({ ...choice, isFound: true }));
}
