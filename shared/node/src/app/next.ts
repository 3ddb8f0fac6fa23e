import { type Incoming, ofRequest, urlOf } from '../incoming.ts';
import { meets } from '../relying-party.ts';
import type { DefaultUser, Session } from '../session/sessions.ts';
import { type Latchkey, withCookies } from './create-latchkey.ts';
import type { SessionRequirements } from './routes.ts';

/** The parts of Next.js that the adapter uses. */
export interface NextFunctions {
  /** From `next/headers`. */
  headers(): Promise<{ get(name: string): string | null }>;
  /** From `next/navigation`. */
  redirect(path: string): never;
}

export interface NextAdapter<User> {
  /**
   * All routes, and the renewal of sessions: `export const proxy = auth.proxy(() => NextResponse.next())` in `proxy.js`;
   * before Next.js 16, `export const middleware` in `middleware.js`. It protects no page.
   */
  proxy<Rest extends unknown[]>(
    next: (request: Request, ...rest: Rest) => Promise<Response> | Response,
  ): (request: Request, ...rest: Rest) => Promise<Response>;
  /** The session in a server component or server action, or null. */
  getSession(): Promise<Session<User> | null>;
  /**
   * The session in a server component or server action. Without one that meets the requirements, the visitor signs in,
   * and returns to `returnTo`. For route handlers, use `requireSession` of `createLatchkey`, which checks the origin.
   */
  requireSession(requirements?: SessionRequirements & { returnTo?: string }): Promise<Session<User>>;
}

/** For Next.js 14 to 16 with the app router. */
export function nextAdapter<User = DefaultUser>(
  { handle, routes }: Latchkey<User>,
  { headers, redirect }: NextFunctions,
): NextAdapter<User> {
  const getSession = async () => (await routes.find(ofHeaders(await headers()))) as Session<User> | null;
  return {
    proxy:
      (next) =>
      async (request, ...rest) => {
        const answered = await handle(request);
        if (answered) return redirectedTo(routes.site.redirectUri, answered);
        const response = await next(request, ...rest);
        const incoming = ofRequest(request);
        const cookies = urlOf(incoming).pathname.startsWith('/_next/') ? [] : await routes.renewal(incoming);
        return cookies.length === 0 ? response : withCookies(response, cookies);
      },
    getSession,
    requireSession: async ({ returnTo, ...asked } = {}) => {
      const session = await getSession();
      if (session && meets(session.acr, session.provedAt, asked, Date.now() / 1000)) return session;
      return redirect(routes.loginPath({ ...(session && asked), returnTo }));
    },
  };
}

/** The proxy of Next.js accepts absolute addresses only. */
function redirectedTo(site: URL, response: Response): Response {
  const location = response.headers.get('Location');
  if (location !== null) response.headers.set('Location', new URL(location, site).href);
  return response;
}

/** Next.js gives a server component headers, and neither the method nor the path. */
function ofHeaders(headers: { get(name: string): string | null }): Incoming {
  return { method: 'GET', url: '/', header: (name) => headers.get(name) ?? undefined, body: async () => '' };
}
