import type { OverviewQuery, OwnerCountQuery } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import type { Project } from '../projects/project.tsx';
import { settings } from '../settings.ts';

export interface Task {
  name: string;
  isDone: boolean;
  isOptional?: boolean;
  /** Text once done. */
  done: string;
  /** Completion time, where known. */
  since?: string | undefined;
  /** Text while open: why it matters. */
  open: string;
  action?: { label: string; to: string } | false | undefined;
}

/** Required tasks that are open, the next one first. */
export const openTasks = (tasks: readonly Task[]): Task[] =>
  tasks.filter(({ isDone, isOptional }) => !isDone && !isOptional);

interface State {
  data: OverviewQuery;
  project: Project;
  path: (rest?: string) => string;
  mayChange: boolean;
  /** Absent unless the account is an owner. */
  owners: OwnerCountQuery['owners'] | undefined;
}

/** Setup tasks derived from the project's current state; each links to its page. */
export function tasksOf(state: State): Task[] {
  return [...applicationTasks(state), mailTask(state), ...accessTasks(state)];
}

function applicationTasks({ data, path, mayChange }: State): Task[] {
  const clients = data.clients.edges.map(({ node }) => node);
  const reachable = clients.filter(({ redirectUris, disabled }) => redirectUris.length > 0 && !disabled);
  const [first] = clients;
  const signedIn = data.signedIn.edges[0]?.node.at;
  return [
    {
      name: t('Create an application'),
      isDone: clients.length > 0,
      done: t('{count, plural, one {# application} other {# applications}}', { count: clients.length }),
      open: t('Users sign in to applications.'),
      action: mayChange && { label: t('Create application'), to: path('applications/new') },
    },
    {
      name: t('Add a redirect URI'),
      isDone: reachable.length > 0,
      done: t('{count, plural, one {# application has a redirect URI} other {# applications have a redirect URI}}', {
        count: reachable.length,
      }),
      open: t('Sign-in requires a redirect URI.'),
      action: first && mayChange && { label: t('Add a redirect URI'), to: path(`applications/${first.id}/settings`) },
    },
    {
      name: t('See a first sign-in'),
      isDone: signedIn !== undefined,
      done: t('Sign-in works'),
      since: signedIn,
      open: t('Run the quickstart code and sign in.'),
      action: first && { label: t('Open the quickstart'), to: path(`applications/${first.id}`) },
    },
  ];
}

function mailTask({ data, path, mayChange }: State): Task {
  if (settings.hasDevMailbox) {
    return {
      name: t('Send real mail'),
      isDone: false,
      done: '',
      open: t('Mail stays in the dev mailbox until SMTP_URL is set.'),
      action: { label: t('Set up'), to: path('messages/sending') },
    };
  }
  const mailTested = data.mailTested.edges[0]?.node.at;
  return {
    name: t('Test the mail server'),
    isDone: mailTested !== undefined,
    done: t('Mail is sent'),
    since: mailTested,
    open: t('Send a test message to check each delivery stage.'),
    action: mayChange && { label: t('Test sending'), to: path('messages/sending') },
  };
}

function accessTasks({ data, project, path, mayChange, owners }: State): Task[] {
  return [
    {
      name: t('Connect a directory'),
      isOptional: true,
      isDone: data.scimTokens.some(({ lastUsedAt, revokedAt }) => lastUsedAt && !revokedAt),
      done: t('A directory is connected'),
      open: t('The directory creates and deactivates users automatically.'),
      action: mayChange && { label: t('Connect a directory'), to: path('directory') },
    },
    {
      name: t('Add a second admin'),
      isDone: adminCount(data.memberships, owners) > 1,
      done: t('More than one admin has access'),
      open: t('If the only admin loses access, the project cannot be changed.'),
      action: mayChange && { label: t('Assign role'), to: path('team') },
    },
    ...(project.testMode
      ? [
          {
            name: t('Turn off test mode'),
            isDone: false,
            done: '',
            open: t('In test mode, anyone can sign in as any user.'),
            action: mayChange && { label: t('Sign-in & MFA'), to: path('factors') },
          },
        ]
      : []),
  ];
}

/** People who can change the project. @param owners undefined: at least one, whom this account cannot see */
export function adminCount(members: OverviewQuery['memberships'], owners: State['owners']): number {
  const admins = [...members, ...(owners ?? [])].filter(
    // The API shows `active` to owners only.
    ({ role, admin }) => role !== 'PROJECT_VIEWER' && admin.active !== false,
  );
  return new Set(admins.map(({ admin }) => admin.id)).size + (owners === undefined ? 1 : 0);
}
