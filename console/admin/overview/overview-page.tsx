import { Badge, Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { Link } from 'react-router';
import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import { Activity as RecentActivity } from '../audit/activity.tsx';
import { ExpiryBanner } from '../directories/expiry-banner.tsx';
import { Overview, type OverviewQuery, OwnerCount } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { LinkButton } from '../ui/buttons.tsx';
import { atLeast } from '../ui/counted.ts';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Page } from '../ui/layout/page.tsx';
import { Charts } from './charts.tsx';
import { Checklist } from './checklist.tsx';
import styles from './overview-page.module.css';
import { overviewPart } from './overview-variables.ts';
import { openTasks, type Task, tasksOf } from './tasks.ts';

const WaitingSignUps = lazy(async () => ({
  default: (await import('../users/waiting-sign-ups.tsx')).WaitingSignUpsNotice,
}));

const dayInMilliseconds = 24 * 3600 * 1000;

/** Activity and setup of a project. */
export function Component() {
  const project = useProject();
  const path = useProjectPath();
  const { isOwner, mayChange } = useAccess(project.id);
  const { data, failure, reload } = useQuery(Overview, overviewPart(project.id), { everySeconds: 15 });
  const owners = useQuery(OwnerCount, {}, { pause: !isOwner });
  const isConsole = project.builtIn === 'CONSOLE';
  const isDemo = project.builtIn === 'DEMO';
  const tasks: Task[] | undefined =
    data && !isConsole ? tasksOf({ data, project, path, mayChange, owners: owners.data?.owners }) : undefined;
  // The checklist is at the top until every task is done.
  const isReady = tasks !== undefined && openTasks(tasks).length === 0;
  const smsLimited = data?.smsLimited.edges[0]?.node.at;
  const isSmsLimited = smsLimited !== undefined && Date.now() - Date.parse(smsLimited) < dayInMilliseconds;
  return (
    <Page
      title={t('Overview')}
      lead={
        isConsole
          ? t('Admins of this instance sign in through this project.')
          : isDemo
            ? t('A project to try things out. Create one for your own applications.')
            : t('Activity and setup for {name}', { name: project.name })
      }
      actions={isDemo && isOwner && <LinkButton to="/projects?new">{t('Create project')}</LinkButton>}
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
          {project.signUp === 'APPROVAL' && (
            <Suspense>
              <WaitingSignUps projectId={project.id} />
            </Suspense>
          )}
          {project.scimEnabled && <ExpiryBanner tokens={data?.scimTokens} to={path('directory')} />}
          {!isConsole && !isReady && <Checklist tasks={tasks} />}
          <Figures contents={data?.project?.contents} />
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

type Contents = NonNullable<OverviewQuery['project']>['contents'];

/** Counts of the project, each a link to its page. @param contents undefined while loading */
function Figures({ contents }: { contents: Contents | undefined }) {
  const path = useProjectPath();
  const figure = (label: string, value: number | undefined, to: string, isMore = false) => (
    <li>
      <Link to={path(to)} className={styles.figure}>
        <span>{label}</span>
        <strong aria-busy={value === undefined}>
          {value === undefined ? <Skeleton w="4rem" h="1.5rem" my={4} /> : atLeast(value, isMore)}
        </strong>
      </Link>
    </li>
  );
  return (
    <ul className={styles.figures}>
      {figure(t('Users'), contents?.users, 'users')}
      {figure(t('Live sessions'), contents?.sessions, 'session-policy', contents?.isSessionsLimited)}
      {figure(t('Applications'), contents?.clients, 'applications')}
      {figure(t('Live directory tokens'), contents?.scimTokens, 'directory')}
    </ul>
  );
}
