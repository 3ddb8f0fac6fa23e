import { type Request, type Response, Router } from 'express';
import { Client } from '../domain/clients/client.entity.ts';
import type { Database } from '../domain/kernel/database.ts';
import { newSecret, type Random } from '../domain/kernel/random.ts';
import { digest } from '../domain/kernel/secret.ts';
import { Project } from '../domain/projects/project.entity.ts';
import { escapeHtml } from '../http/pages.ts';
import type { Caller } from './caller.ts';
import { sendPlainPage } from './plain-page.ts';
import { csrfHeader } from './server.ts';

/** What the console's front door stands on. */
export interface FrontDoor {
  db: Database;
  random: Random;
  issuer: string;
  /** Whether there is a dev mailbox to link to. */
  hasMailbox: boolean;
  /** The admin of this browser's console session, if there is one. */
  callerOf(req: Request): Promise<Caller | null>;
}

/** `/admin`: for a signed-in admin a page that says who they are and how to go on; for anybody else the sign-in. */
export function consoleRoutes(door: FrontDoor): Router {
  const router = Router();
  router.get('/', async (req, res) => {
    const caller = await door.callerOf(req);
    if (!caller) return res.redirect(303, await signInAddress(door));
    await sendFrontPage(door, res, caller);
  });
  // The session is what the sign-in was for; its code, bound to a verifier that nobody kept, is left to expire.
  router.get('/callback', (req, res) => {
    const { error } = req.query;
    if (typeof error !== 'string') return res.redirect(303, '/admin');
    const text =
      '<h1>You are not signed in</h1><p>The sign-in was not finished.</p><p><a href="/admin">Try again</a></p>';
    sendPlainPage(res, 403, 'Not signed in', text);
  });
  return router;
}

async function signInAddress({ db, random, issuer }: FrontDoor): Promise<string> {
  const client = await db.reader().findOneOrFail(Client, { builtIn: 'console' });
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: client.id,
    redirect_uri: `${issuer}/admin/callback`,
    scope: 'openid',
    state: newSecret(random),
    code_challenge: digest(newSecret(random)),
    code_challenge_method: 'S256',
  });
  return `/authorize?${query}`;
}

async function sendFrontPage(door: FrontDoor, res: Response, caller: Caller): Promise<void> {
  const em = door.db.reader();
  const client = await em.findOneOrFail(Client, { builtIn: 'console' });
  const names = new Map(
    (await em.find(Project, { id: { $in: [...caller.grants.projects.keys()] } })).map(({ id, name }) => [id, name]),
  );
  const roles = [...caller.grants.projects].map(([id, role]) => `${role} of ${names.get(id) ?? id}`);
  const role = caller.grants.owner ? 'owner of this instance' : roles.join(', ') || 'no role yet: ask an owner for one';
  const signOut = new URLSearchParams({ client_id: client.id, post_logout_redirect_uri: `${door.issuer}/admin` });
  const mailbox = door.hasMailbox && caller.grants.owner;
  sendPlainPage(
    res,
    200,
    'Administration',
    `
<h1>Signed in as ${escapeHtml(caller.name)}</h1>
<p class="calm">${escapeHtml(role)}</p>
<ul>
${mailbox ? '<li><a href="/setup/mailbox">Dev mailbox</a>: the messages that would have been sent</li>' : ''}
<li><a href="/oauth2/end_session?${escapeHtml(signOut.toString())}">Sign out</a></li>
</ul>
<h2>Configure with GraphQL</h2>
<p>This instance is configured through <code>POST ${escapeHtml(door.issuer)}/admin/graphql</code>. An owner makes a token
for it with <code>issueAdminToken</code>; from a page of this origin, the session and the header
<code>${csrfHeader}: 1</code> do as well.</p>
<pre>curl ${escapeHtml(door.issuer)}/admin/graphql \\
  -H 'Authorization: Bearer &lt;BOOTSTRAP_ADMIN_TOKEN or admin API token&gt;' \\
  -H 'Content-Type: application/json' \\
  -d '{"query": "{ projects { edges { node { id name } } } }"}'</pre>`,
  );
}
