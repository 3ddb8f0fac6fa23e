import type { OverviewQuery } from '../generated/operations.ts';
import type { Project } from '../projects/project.tsx';
import { settings } from '../settings.ts';
import type { Task } from './checklist.tsx';

interface State {
  data: OverviewQuery;
  project: Project;
  path: (rest?: string) => string;
  mayChange: boolean;
  /** Absent unless the account is an owner. */
  ownerCount: number | undefined;
}

/** Once this task is done, the charts have data. */
export const firstSignIn = 'See a first sign-in';

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
      done: `${clients.length} application${clients.length === 1 ? '' : 's'}`,
      open: 'An application is what people sign in to.',
      ...(mayChange ? { action: { label: 'Create application', to: path('applications/new') } } : {}),
    },
    {
      name: 'Say where people come back to',
      isDone: reachable.length > 0,
      done: `${reachable.length} application${reachable.length === 1 ? ' has' : 's have'} a redirect URI`,
      open: 'Without a redirect URI, nobody can sign in.',
      ...(first && mayChange
        ? { action: { label: 'Add a redirect URI', to: path(`applications/${first.id}/settings`) } }
        : {}),
    },
    {
      name: firstSignIn,
      isDone: signedIn !== undefined,
      done: 'Sign-in works',
      since: signedIn,
      open: 'Take the code of the quickstart, and sign in yourself.',
      ...(first ? { action: { label: 'Open the quickstart', to: path(`applications/${first.id}`) } } : {}),
    },
    settings.hasDevMailbox
      ? {
          name: 'Send real mail',
          isDone: false,
          done: '',
          open: 'Mail stays in the dev mailbox. Whoever runs this server sets SMTP_URL before real people come.',
        }
      : {
          name: 'Test the mail server',
          isDone: mailTested !== undefined,
          done: 'Mail is sent',
          since: mailTested,
          open: 'Send yourself a message: each stage on its way is checked, from DNS to the mail server’s last word.',
          ...(mayChange ? { action: { label: 'Test sending', to: path('messages/sending') } } : {}),
        },
    {
      name: 'Connect a directory',
      isOptional: true,
      isDone: isConnected,
      done: 'A directory is connected',
      open: 'People come and go by themselves, as the customer’s directory says.',
      ...(mayChange ? { action: { label: 'Connect a directory', to: path('directory') } } : {}),
    },
    {
      name: 'Have a second admin',
      isDone: team > 1,
      done: 'More than one person may work here',
      open: 'If the only one loses their access, nobody can change anything.',
      ...(mayChange ? { action: { label: 'Give a role', to: path('team') } } : {}),
    },
    ...(project.testMode
      ? [
          {
            name: 'Switch test mode off',
            isDone: false,
            done: '',
            open: 'As long as it is on, anybody can sign in as anybody.',
            ...(mayChange ? { action: { label: 'Factors', to: path('factors') } } : {}),
          },
        ]
      : []),
  ];
}
