import type { Request, Response } from 'express';
import { answerUrlOf } from '../domain/connections/addresses.ts';
import type { Connection } from '../domain/connections/connection.entity.ts';
import type { Connections } from '../domain/connections/connections.ts';
import { guideOf } from '../domain/connections/guides.ts';
import type { ReportLine } from '../domain/connections/report.ts';
import type { PendingUpstream, ReadAnswer, UpstreamFault } from '../domain/connections/upstream.ts';
import type { UpstreamPerson } from '../domain/connections/upstream-request.entity.ts';
import type { UpstreamSignIns } from '../domain/connections/upstream-sign-ins.ts';
import { openProject } from '../domain/kernel/scope.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import { actorOf } from '../http/context.ts';
import { escapeHtml } from '../http/html.ts';
import type { Pages } from '../http/pages.ts';
import { parametersOf } from '../http/parameters.ts';
import { siteAt } from '../http/site.ts';

export interface TestDeps {
  connections: Pick<Connections, 'tested'>;
  upstreamSignIns: Pick<UpstreamSignIns, 'beginTest' | 'find' | 'take'>;
  pages: Pages;
}

/** The address that the admin API gives for a test; its `state` is the secret of the request. */
export const testPath = '/connect/:connection/test';

/** Leads the browser of an admin to the provider. The answer begins no session. */
export async function startTest(deps: TestDeps, req: Request, res: Response): Promise<void> {
  const state = parametersOf(req).get('state') ?? '';
  const pending = await deps.upstreamSignIns.find('any', String(req.params['connection']), state);
  if (pending?.request.requestId !== null || pending.request.usedAt) return showEnded(deps, req, res);
  openProject(pending.request.project.id);
  const begun = await deps.upstreamSignIns.beginTest(pending, answerUrlOf(pending.connection, siteAt(req).origin));
  if ('fault' in begun) return show(deps, req, res, begun);
  res.setHeader('Referrer-Policy', 'no-referrer');
  res.redirect(303, begun.url);
}

/** Shows what the provider answered. */
export async function endTest(
  deps: TestDeps,
  req: Request,
  res: Response,
  { connection, request, version }: PendingUpstream,
  read: () => Promise<ReadAnswer>,
): Promise<void> {
  openProject(request.project.id);
  if (!(await deps.upstreamSignIns.take(request))) return showEnded(deps, req, res);
  const answer = await read();
  const key = keyIn(connection.project.id, connection.id);
  const isStale = 'person' in answer && !(await deps.connections.tested({ ...key, version }, actorOf(req)));
  if (isStale) return showEnded(deps, req, res);
  show(deps, req, res, answer, connection);
}

/** Of a test that expired, as after a reload of its result, or whose connection changed meanwhile. */
function showEnded({ pages }: TestDeps, req: Request, res: Response): void {
  const message = 'A test works once, within 30 minutes, and not after a change of the connection. Start another one.';
  const values = { title: 'This test has ended', message };
  pages.send(req, res, 'plain/connection-test', { status: 400, values, html: { rows: '' } });
}

/** For admins, in English like the names of the values, which are those of the protocols. */
function show({ pages }: TestDeps, req: Request, res: Response, answer: ReadAnswer, connection?: GuideKey): void {
  const isGood = 'person' in answer;
  const { report = [] } = answer;
  const wrong = report.filter((line) => line.isWrong);
  pages.send(req, res, 'plain/connection-test', {
    status: isGood ? 200 : 400,
    values: {
      title: isGood ? 'The test succeeded' : 'The test failed',
      message: isGood
        ? `No one was signed in.${wrong.length > 0 ? ' Some values need attention.' : ''}`
        : (advice[answer.fault] ?? advice.response),
    },
    html: {
      rows: [
        ...(isGood ? understood(answer.person) : []),
        ...[...wrong, ...report.filter((line) => !line.isWrong)].map((line) => rowOf(line, connection)),
      ].join(''),
    },
  });
}

/** What would be stored. */
function understood({ email, emailVerified, profile }: UpstreamPerson): string[] {
  const address =
    email === null ? 'none' : `${email} (${emailVerified ? 'verified' : 'not verified: proved here by a code'})`;
  return Object.entries({ Address: address, ...profile }).map(([name, value]) => row(name, [value]));
}

function rowOf({ expected, field, isWrong, name, received }: ReportLine, connection?: GuideKey): string {
  if (expected === undefined) return row(name, [received]);
  const label = isWrong && field && connection ? guideOf(connection).labels[field] : undefined;
  const lines = [received, `Expected: ${expected}`, ...(label === undefined ? [] : [`At the provider: ${label}`])];
  return row(`${isWrong ? '✗' : '✓'} ${name}`, isWrong ? lines : [received, 'As expected']);
}

type GuideKey = Pick<Connection, 'kind' | 'preset'>;

function row(name: string, lines: readonly string[]): string {
  return `<div><dt>${escapeHtml(name)}</dt>${lines.map((line) => `<dd>${escapeHtml(line)}</dd>`).join('')}</div>`;
}

/** What to mend, by fault. */
const advice: Record<UpstreamFault, string> = {
  denied:
    'The provider reports that the sign-in was cancelled or not allowed. Check that the account may use the application.',
  'provider-error': 'The provider answered with an error. Check scopes and redirect URI of the application there.',
  unreachable: 'The provider did not answer in time. Check that this server can reach its token endpoint and keys.',
  discovery: 'The discovery document cannot be read, or names another issuer. Check the issuer, also its last slash.',
  response: 'The answer lacks a code or claims, or names another issuer.',
  'token-endpoint': 'The provider refused the code. Check client ID, client secret and redirect URI.',
  signature: 'The ID token is not signed by a key of the provider with RS256, PS256, ES256 or EdDSA.',
  issuer: 'The ID token names another issuer than the connection.',
  audience: 'The ID token is for another client. Check the client ID.',
  time: 'The ID token has expired or is from the future. Check the clocks of both servers.',
  nonce: 'The answer is to another request.',
  decryption:
    'The encrypted assertion cannot be decrypted. Give the provider the current metadata of this connection, and use AES-GCM.',
  recipient: 'The answer is for another address. Check the ACS URL.',
  replayed: 'The provider has sent this assertion before.',
  subject:
    'The ID token has no usable sub (a text of 1 to 255 characters), or its claim act says that another person acts as the user.',
  tenant: 'The account belongs to another organization than the connection allows.',
  userinfo: 'The UserInfo endpoint failed, or answered about another account.',
  busy: 'Too many sign-ins by this connection wait for the provider.',
};
