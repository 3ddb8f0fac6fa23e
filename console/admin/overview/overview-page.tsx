import { Badge, Skeleton } from '@mantine/core';
import { Link } from 'react-router';
import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import { Activity as RecentActivity } from '../audit/activity.tsx';
import { ExpiryBanner } from '../directories/expiry-banner.tsx';
import { Overview, OwnerCount } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { atLeast } from '../ui/counted.ts';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Page } from '../ui/layout/page.tsx';
import { Charts } from './charts.tsx';
import { Checklist, openTasks, type Task } from './checklist.tsx';
import styles from './overview-page.module.css';
import { overviewPart } from './overview-variables.ts';
import { tasksOf } from './tasks.ts';

const dayInMilliseconds = 24 * 3600 * 1000;

/** Activity and setup of a project. */
export function Component() {
  const project = useProject();
  const path = useProjectPath();
  const { isOwner, mayChange } = useAccess(project.id);
  const { data, failure, reload } = useQuery(Overview, overviewPart(project.id), { everySeconds: 15 });
  const owners = useQuery(OwnerCount, {}, { pause: !isOwner });
  const isConsole = project.builtIn === 'CONSOLE';
  const tasks: Task[] | undefined =
    data && !isConsole
      ? tasksOf({ data, project, path, mayChange, ownerCount: owners.data?.owners.length })
      : undefined;
  // First until all is done.
  const isReady = tasks !== undefined && openTasks(tasks).length === 0;
  const smsLimited = data?.smsLimited.edges[0]?.node.at;
  const isSmsLimited = smsLimited !== undefined && Date.now() - Date.parse(smsLimited) < dayInMilliseconds;
  const contents = data?.project?.contents;
  const figures = [
    { label: t('Users'), value: contents?.users, to: path('users') },
    {
      label: t('Live sessions'),
      value: contents?.sessions,
      isMore: contents?.isSessionsLimited,
      to: path('session-policy'),
    },
    { label: t('Applications'), value: contents?.clients, to: path('applications') },
    { label: t('Live directory tokens'), value: contents?.scimTokens, to: path('directory') },
  ];
  return (
    <Page
      title={t('Overview')}
      lead={
        isConsole
          ? t('Admins of this instance sign in through this project.')
          : t('Activity and setup for {name}', { name: project.name })
      }
      badges={
        <>
          {project.testMode && <Badge color="note">{t('Test mode')}</Badge>}
          {isSmsLimited && <Badge color="bad">{t('SMS limit reached')}</Badge>}
        </>
      }
    >
      {failure && !data ? (
        <LoadError failure={failure} subject={t('the overview')} retry={reload} />
      ) : (
        <>
          {project.scimEnabled && <ExpiryBanner tokens={data?.scimTokens} to={path('directory')} />}
          {!isConsole && !isReady && <Checklist tasks={tasks} />}
          <ul className={styles.figures}>
            {figures.map(({ label, value, isMore = false, to }) => (
              <li key={label}>
                <Link to={to} className={styles.figure}>
                  <span>{label}</span>
                  <strong aria-busy={value === undefined}>
                    {value === undefined ? <Skeleton w="4rem" h="1.5rem" my={4} /> : atLeast(value, isMore)}
                  </strong>
                </Link>
              </li>
            ))}
          </ul>
          {isReady && <Checklist tasks={tasks} />}
          <Charts projectId={project.id} path={path} />
          <RecentActivity
            title={t('Recent activity')}
            events={data?.recent.edges.map(({ node }) => node)}
            hasFilters
            empty={t('Sign-ins and changes appear here.')}
          />
        </>
      )}
    </Page>
  );
}
