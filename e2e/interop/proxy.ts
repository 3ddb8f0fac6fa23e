import { execFile, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../support/latchkey.ts';
import type { Row } from './runtimes/tried.ts';

const shipped = new URL('../../server/deploy/nginx.conf', import.meta.url);

interface Application {
  baseUrl: string;
  projectId: string;
  clientId: string;
  redirectUri: string;
  scimToken: string;
}

interface Sent {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/**
 * Sends the largest requests that Latchkey accepts, directly and through nginx with the shipped configuration: both responses must
 * have the same status and address. `NGINX` names the program.
 */
export async function tryProxy({ baseUrl, projectId, clientId, redirectUri, scimToken }: Application): Promise<Row> {
  const name = 'nginx, as shipped';
  const program = process.env['NGINX'] ?? 'nginx';
  if (!(await promisify(execFile)(program, ['-v']).catch(() => null))) return [name, 'skipped', 'there is no nginx'];
  const scope = { client_id: clientId, redirect_uri: redirectUri, response_type: 'code', scope: 'openid' };
  const pkce = { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' };
  const authorize = (more: Record<string, string>) =>
    `/authorize?${new URLSearchParams({ ...scope, ...pkce, ...more })}`;
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const requests: Record<string, Sent> = {
    'a logout with an address of 10 KB': {
      path: `/oauth2/end_session?${new URLSearchParams({ client_id: clientId, post_logout_redirect_uri: `${redirectUri}?${'x'.repeat(10_000)}` })}`,
    },
    'a logout with a hint of 20 KB': {
      path: `/oauth2/end_session?${new URLSearchParams({ client_id: clientId, id_token_hint: 'x'.repeat(20_000) })}`,
    },
    'cookies of 9 KB': { path: '/account', headers: { cookie: `a=${'x'.repeat(9_000)}` } },
    'cookies of 28 KB': { path: '/account', headers: { cookie: `a=${'x'.repeat(28_000)}` } },
    'an access token of 12 KB': { path: '/userinfo', headers: { authorization: `Bearer ${'x'.repeat(12_000)}` } },
    'a state of 2,048 characters': { path: authorize({ prompt: 'none', state: 'x'.repeat(2048) }) },
    'a state of 2,048 Japanese characters': { path: authorize({ prompt: 'none', state: '鍵'.repeat(2048) }) },
    'the same, which waits for a sign-in': { path: authorize({ state: '鍵'.repeat(2048) }) },
    'a form of 60 KB': {
      method: 'POST',
      path: '/oauth2/token',
      headers: form,
      body: `grant_type=${'x'.repeat(60_000)}`,
    },
    'a Bulk of 4 MB': {
      method: 'POST',
      path: `/v1/scim/${projectId}/Bulk`,
      headers: { 'content-type': 'application/scim+json', authorization: `Bearer ${scimToken}` },
      body: JSON.stringify({ Operations: 'x'.repeat(4_000_000) }),
    },
    'a doubled slash': { path: `/v1/scim/${projectId}//Users` },
    'an encoded slash': { path: `/v1/scim/${projectId}/Users/a%2Fb` },
  };
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-nginx-'));
  // Its workers are of another user if it starts as root.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const nginx = spawn(program, ['-p', folder, '-c', configuration(folder, port, baseUrl), '-g', 'daemon off;'], {
    stdio: 'pipe',
  });
  let output = '';
  nginx.stderr.on('data', (chunk) => (output += String(chunk)));
  try {
    const proxied = `http://127.0.0.1:${port}`;
    for (let tries = 0; ; tries++) {
      const found = await answerOf(proxied, { path: '/' }).catch(() => null);
      if (found !== null) break;
      if (nginx.exitCode !== null || tries > 1000) return [name, 'fail', `it did not start: ${output}`];
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const host = new URL(baseUrl).host;
    const different: string[] = [];
    for (const [what, sent] of Object.entries(requests)) {
      const own = { ...sent, headers: { ...sent.headers, host } };
      const [direct, through] = [await answerOf(baseUrl, own), await answerOf(proxied, own)];
      if (direct !== through) different.push(`${what}: ${direct.slice(0, 60)} became ${through.slice(0, 60)}`);
    }
    if (different.length > 0) return [name, 'fail', different.join('; ')];
    return [name, 'pass', `${Object.keys(requests).length} large requests have the same response`];
  } finally {
    nginx.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The shipped file for this machine: other addresses, and no name server. */
function configuration(folder: string, port: number, baseUrl: string): string {
  const text = readFileSync(shipped, 'utf8')
    .replace(/^pid .*$/m, `pid ${join(folder, 'pid')};\nerror_log stderr;`)
    .replace(/^ *resolver .*$/m, '')
    .replace(/^ *server latchkey-two.*$/m, '')
    .replace(/server latchkey:3000 max_fails=0 resolve;/, `server ${new URL(baseUrl).host} max_fails=0;`)
    .replace('listen 8080;', `listen 127.0.0.1:${port};`)
    .replace(
      'access_log off;',
      ['access_log off;', ...temporary.map((kind) => `${kind}_temp_path ${folder}/${kind};`)].join('\n'),
    );
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, text);
  return file;
}

const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** Status and `Location`. */
function answerOf(url: string, { method = 'GET', path, headers, body }: Sent): Promise<string> {
  return new Promise((resolve, reject) => {
    const sending = request(`${url}${path}`, { method, headers, maxHeaderSize: 256 * 1024 }, (response) => {
      response.resume();
      response.once('end', () =>
        resolve(`${response.statusCode} ${(response.headers.location ?? '').replace(/flow=[^&]+/, '')}`),
      );
    });
    sending.once('error', reject);
    sending.end(body);
  });
}
