import { Button, Popover, Text, VisuallyHidden } from '@mantine/core';
import { useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { useAccess } from '../../access.tsx';
import { useQuery } from '../../api.ts';
import { ProjectById, SwitcherProjects } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { recentProjects } from '../../projects/recent.ts';
import { AddButton } from '../../ui/buttons.tsx';
import { Icon } from '../../ui/icon.tsx';
import { type Choice, Listbox } from './listbox.tsx';
import { useSearch } from './use-search.ts';

/** Project switcher: recent projects first, others by server search. */
export function Switcher({ projectId }: { projectId: string | undefined }) {
  const [opened, setOpened] = useState(false);
  const { data } = useQuery(ProjectById, { id: projectId ?? '' }, { pause: projectId === undefined });
  const known = data?.project?.id === projectId ? data?.project?.name : undefined;
  const name = known ?? recentProjects().find(({ id }) => id === projectId)?.name;
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      position="bottom-start"
      width="min(22rem, calc(100vw - 2rem))"
      shadow="md"
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <Button
          variant="subtle"
          color="gray"
          c="var(--text)"
          maw="18rem"
          px="sm"
          rightSection={<Icon name="upDown" size={16} />}
          onClick={() => setOpened(!opened)}
        >
          {name !== undefined && <VisuallyHidden>{t('Project:')} </VisuallyHidden>}
          <Text span truncate>
            {name ?? t('Choose a project')}
          </Text>
        </Button>
      </Popover.Target>
      <Popover.Dropdown p={0} aria-label={t('Switch project')}>
        {opened && <Projects current={projectId} onClose={() => setOpened(false)} />}
      </Popover.Dropdown>
    </Popover>
  );
}

function Projects({ current, onClose }: { current: string | undefined; onClose(): void }) {
  const [text, setText] = useState('');
  const { isOwner } = useAccess();
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const search = text.trim();
  const { answer, pending } = useSearch(SwitcherProjects, { search: search || null }, true);
  const recent = search ? [] : recentProjects().filter(({ id }) => id !== current);
  const found = (answer?.projects.edges ?? [])
    .map(({ node }) => node)
    .filter(({ id }) => !recent.some((one) => one.id === id));

  const choice = (
    group: string,
    project: { id: string; name: string; testMode?: boolean },
    isFound: boolean,
  ): Choice => ({
    key: project.id,
    group,
    isFound,
    label: project.name,
    detail: project.id === current ? t('Current') : project.testMode ? t('Test mode') : undefined,
    choose: () => {
      onClose();
      void navigate(samePageIn(project.id, pathname));
    },
  });
  const total = answer?.projects.totalCount ?? 0;
  const group = search ? t('Found ({total})', { total }) : t('All projects ({total})', { total });
  return (
    <Listbox
      label={t('Search projects')}
      placeholder={t('Search projects')}
      text={text}
      onText={setText}
      choices={[
        ...recent.map((one) => choice(t('Recent'), one, false)),
        ...found.map((one) => choice(group, one, true)),
      ]}
      pending={pending}
      nothing={t('No matching projects')}
      foot={
        isOwner && (
          <AddButton
            variant="subtle"
            fullWidth
            justify="flex-start"
            onClick={() => {
              onClose();
              void navigate('/projects?new');
            }}
          >
            {t('Create project')}
          </AddButton>
        )
      }
    />
  );
}

/** Maps the current page to the same page of another project. */
function samePageIn(projectId: string, pathname: string): string {
  const [, page = 'overview'] = /^\/projects\/[^/]+\/([a-z-]+)/.exec(pathname) ?? [];
  return `/projects/${projectId}/${page}`;
}
