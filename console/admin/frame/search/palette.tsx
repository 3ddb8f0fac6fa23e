import { ActionIcon, Button, Kbd, Modal, useMantineColorScheme } from '@mantine/core';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { useAccess } from '../../access.tsx';
import { PaletteInProject, PaletteProjects } from '../../generated/operations.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { useNavItems } from '../navigation.tsx';
import { type Choice, Listbox } from './listbox.tsx';
import { useSearch } from './use-search.ts';

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

export function PaletteButton({ onOpen }: { onOpen(): void }) {
  const props = { onClick: onOpen, variant: 'default', 'aria-keyshortcuts': 'Control+K Meta+K' } as const;
  return (
    <>
      <Button
        {...props}
        visibleFrom="md"
        fw={400}
        c="dimmed"
        leftSection={<Icon name="search" size={16} />}
        rightSection={<Kbd aria-hidden="true">{isMac ? '⌘ K' : 'Ctrl K'}</Kbd>}
      >
        Search or go to
      </Button>
      <ActionIcon {...props} variant="subtle" color="gray" size="lg" hiddenFrom="md" aria-label="Search or go to">
        <Icon name="search" size={16} />
      </ActionIcon>
    </>
  );
}

interface PaletteProps {
  opened: boolean;
  onClose(): void;
  projectId: string | undefined;
}

/** Command palette: pages, applications, users, groups and projects. */
export function Palette({ opened, onClose, projectId }: PaletteProps) {
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
      <Modal.Content aria-label="Search or go to">
        {opened && <Search projectId={projectId} onClose={onClose} />}
      </Modal.Content>
    </Modal.Root>
  );
}

function Search({ projectId, onClose }: { projectId: string | undefined; onClose(): void }) {
  const [text, setText] = useState('');
  const navigate = useNavigate();
  const groups = useNavItems(projectId);
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

  const go = (group: string, icon: IconName, label: string, to: string, detail?: string): Choice => ({
    isFound: false,
    key: `${group} ${to}`,
    group,
    label,
    detail,
    icon: <Icon name={icon} size={18} />,
    choose: () => {
      onClose();
      void navigate(to);
    },
  });
  const places = groups.flatMap(({ label: group, places: list }) =>
    list.map(({ label, to, icon }) => go('Go to', icon, label, to, group)),
  );
  const actions: Choice[] = [
    ...(projectId && mayChange
      ? [go('Do', 'plus', 'Create application', `/projects/${projectId}/applications/new`)]
      : []),
    ...(isOwner ? [go('Do', 'plus', 'Create project', '/projects?new')] : []),
    {
      key: 'scheme',
      isFound: false,
      group: 'Do',
      label: colorScheme === 'dark' ? 'Switch to light colours' : 'Switch to dark colours',
      icon: <Icon name={colorScheme === 'dark' ? 'sun' : 'moon'} size={18} />,
      choose: () => {
        setColorScheme(colorScheme === 'dark' ? 'light' : 'dark');
        onClose();
      },
    },
  ];
  const fits = ({ label, detail = '' }: Choice) => `${label} ${detail}`.toLowerCase().includes(wanted.toLowerCase());
  const found = wanted.length > 1 && answer ? foundIn(answer, projectId, go) : [];
  const choices = [...places.filter(fits), ...actions.filter(fits), ...found];
  return (
    <Listbox
      label="Search or go to"
      placeholder="Pages, applications, users, groups, projects"
      text={text}
      onText={setText}
      choices={choices}
      pending={pending}
      nothing={`No matches for “${wanted}”`}
    />
  );
}

interface Found {
  clients?: { edges: { node: { id: string; name: string } }[] };
  users?: { edges: { node: { id: string; userName: string; displayName?: string | null } }[] };
  groups?: { edges: { node: { id: string; displayName: string } }[] };
  projects: { edges: { node: { id: string; name: string } }[] };
}

type Go = (group: string, icon: IconName, label: string, to: string, detail?: string) => Choice;

function foundIn(found: Found | undefined, projectId: string | undefined, go: Go): Choice[] {
  const clients = found?.clients?.edges ?? [];
  const users = found?.users?.edges ?? [];
  const groups = found?.groups?.edges ?? [];
  const projects = found?.projects.edges ?? [];
  return [
    ...clients.map(({ node }) =>
      go('Applications', 'applications', node.name, `/projects/${projectId}/applications/${node.id}`),
    ),
    ...users.map(({ node: { id, userName, displayName } }) =>
      go(
        'Users',
        'users',
        displayName ?? userName,
        `/projects/${projectId}/users/${id}`,
        displayName ? userName : undefined,
      ),
    ),
    ...groups.map(({ node }) => go('Groups', 'groups', node.displayName, `/projects/${projectId}/groups/${node.id}`)),
    ...projects.map(({ node }) => go('Projects', 'projects', node.name, `/projects/${node.id}/overview`)),
  ].map((choice) => ({ ...choice, isFound: true }));
}
