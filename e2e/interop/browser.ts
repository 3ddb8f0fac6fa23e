import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

/**
 * A minimal browser for a sign-in with a live session: follows redirects, submits forms that submit themselves, and keeps
 * cookies for each origin.
 */
export class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();

  /** Address of the last page. */
  address = '';

  take(url: string, cookies: ReadonlyMap<string, string>): void {
    this.#cookies.set(new URL(url).origin, new Map(cookies));
  }

  /** Follows redirects; returns the text of the last page, with the claims of its header, if any. @param body of a form that is posted */
  async open(url: string, body?: string): Promise<string> {
    let next = url;
    let form = body;
    for (let steps = 0; steps < 20; steps += 1) {
      const response = await this.#get(next, form);
      const { location, 'x-claims': claims } = response.headers;
      this.address = next;
      form = undefined;
      if (location === undefined) {
        const page = await textOf(response);
        const submitted = submittedForm(page);
        if (!submitted) return `${String(claims ?? '')} ${page}`;
        [next, form] = [new URL(submitted.action, next).href, submitted.body];
        continue;
      }
      response.resume();
      next = new URL(location, next).href;
    }
    throw new Error(`too many redirects, the last to ${next}`);
  }

  /** Allows what the consent page asks for. */
  async allow(page: string): Promise<string> {
    const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '';
    const action = new URL(/action="([^"]+)"/.exec(page)?.[1] ?? '', this.address).href;
    const fields = { flow: field('flow'), csrf: field('csrf'), answer: 'allow' };
    return this.open(action, new URLSearchParams(fields).toString());
  }

  /** The header `Cookie` for an origin. */
  cookieOf(origin: string): string {
    return [...(this.#cookies.get(origin) ?? [])].map((pair) => pair.join('=')).join('; ');
  }

  /** Whether this browser has a session at the issuer. */
  async hasSession(issuer: string, clientId: string, redirectUri: string): Promise<boolean> {
    const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
    const query = new URLSearchParams({ response_type: 'code', client_id: clientId, redirect_uri: redirectUri });
    query.append('scope', 'openid');
    query.append('prompt', 'none');
    query.append('code_challenge', challenge);
    query.append('code_challenge_method', 'S256');
    const response = await this.#get(`${issuer}/authorize?${query}`);
    response.resume();
    return new URL(response.headers.location ?? '').searchParams.has('code');
  }

  /** Waits until the application redirects instead of returning a page; false after a minute. */
  async losesSession(url: string): Promise<boolean> {
    for (let attempts = 0; attempts < 240; attempts += 1) {
      const response = await this.#get(url);
      response.resume();
      if (response.headers.location !== undefined) return true;
      await new Promise((done) => setTimeout(done, 250));
    }
    return false;
  }

  /** Waits until the address responds; false if `isOver`, or after a minute. */
  async isReachable(url: string, isOver: () => boolean): Promise<boolean> {
    for (let attempts = 0; attempts < 240 && !isOver(); attempts += 1) {
      const answer = await fetch(url, { redirect: 'manual' }).catch(() => null);
      if (answer) return true;
      await new Promise((done) => setTimeout(done, 250));
    }
    return false;
  }

  /** @param form the body of a POST */
  async #get(url: string, form?: string): Promise<IncomingMessage> {
    const { origin } = new URL(url);
    const jar = this.#cookies.get(origin) ?? new Map<string, string>();
    this.#cookies.set(origin, jar);
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
    // Not fetch, whose Sec-Fetch-Mode names a script: mod_auth_openidc redirects only requests for pages.
    const headers = {
      Accept: 'text/html',
      ...(cookie !== '' && { Cookie: cookie }),
      ...(form !== undefined && { 'Content-Type': 'application/x-www-form-urlencoded' }),
    };
    const sent = request(url, { headers, method: form === undefined ? 'GET' : 'POST' });
    sent.end(form);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    for (const line of response.headers['set-cookie'] ?? []) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      if (/max-age=0|expires=Thu, 01[ -]Jan[ -]1970/i.test(line)) jar.delete(pair.slice(0, at));
      else jar.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return response;
  }
}

/** A form that the script of the page submits. */
function submittedForm(page: string): { action: string; body: string } | undefined {
  if (!page.includes('document.forms[0].submit()')) return undefined;
  const decoded = (text = '') => text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');
  const fields = [...page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
  const body = new URLSearchParams(fields.map(([, name, value]) => [decoded(name), decoded(value)]));
  return { action: decoded(/<form method="post" action="([^"]*)"/.exec(page)?.[1]), body: body.toString() };
}

async function textOf(response: IncomingMessage): Promise<string> {
  return Buffer.concat(await response.toArray()).toString();
}
