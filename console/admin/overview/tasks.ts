import type { OverviewQuery } from '../generated/operations.ts';
import type { Project } from '../projects/project.tsx';
import { settings } from '../settings.ts';
import { counted } from '../ui/counted.ts';
import type { Task } from './checklist.tsx';

interface State {
  data: OverviewQuery;
  project: Project;
  path: (rest?: string) => string;
  mayChange: boolean;
  /** Absent unless the account is an owner. */
  ownerCount: number | undefined;
}

/** Setup tasks derived from the project's current state; each links to its page. */
export function tasksOf({ data, project, path, mayChange, ownerCount }: State): Task[] {
  const clients = data.clients.edges.map(({ node }) => node);
  const reachable = clients.filter(({ redirectUris, disabled }) => redirectUris.length > 0 && !disabled);
  const [first] = clients;
  const signedIn = data.signedIn.edges[0]?.node.at;
  const mailTested = data.mailTested.edges[0]?.node.at;
  const isConnected = data.scimTokens.some(({ lastUsedAt, revokedAt }) => lastUsedAt && !revokedAt);
  const team = data.memberships.length + (ownerCount ?? 1);
  return [
    {
      name: 'Create an application',
      isDone: clients.length > 0,
      done: counted(clients.length, 'application'),
      open: 'Users sign in to applications.',
      action: mayChange && { label: 'Create application', to: path('applications/new') },
    },
    {
      name: 'Add a redirect URI',
      isDone: reachable.length > 0,
      done: `${reachable.length} application${reachable.length === 1 ? ' has' : 's have'} a redirect URI`,
      open: 'Sign-in requires a redirect URI.',
      action: first && mayChange && { label: 'Add a redirect URI', to: path(`applications/${first.id}/settings`) },
    },
    {
      name: 'See a first sign-in',
      isDone: signedIn !== undefined,
      done: 'Sign-in works',
      since: signedIn,
      open: 'Run the quickstart code and sign in.',
      action: first && { label: 'Open the quickstart', to: path(`applications/${first.id}`) },
    },
    settings.hasDevMailbox
      ? {
          name: 'Send real mail',
          isDone: false,
          done: '',
          open: 'Mail stays in the dev mailbox until SMTP_URL is set.',
        }
      : {
          name: 'Test the mail server',
          isDone: mailTested !== undefined,
          done: 'Mail is sent',
          since: mailTested,
          open: 'Send a test message to check each delivery stage.',
          action: mayChange && { label: 'Test sending', to: path('messages/sending') },
        },
    {
      name: 'Connect a directory',
      isOptional: true,
      isDone: isConnected,
      done: 'A directory is connected',
      open: 'The directory creates and deactivates users automatically.',
      action: mayChange && { label: 'Connect a directory', to: path('directory') },
    },
    {
      name: 'Add a second admin',
      isDone: team > 1,
      done: 'More than one admin has access',
      open: 'If the only admin loses access, the project cannot be changed.',
      action: mayChange && { label: 'Assign a role', to: path('team') },
    },
    ...(project.testMode
      ? [
          {
            name: 'Turn off test mode',
            isDone: false,
            done: '',
            open: 'In test mode, anyone can sign in as any user.',
            action: mayChange && { label: 'Sign-in & MFA', to: path('factors') },
          },
        ]
      : []),
  ];
}
