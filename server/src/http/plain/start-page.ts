import type { RequestHandler } from 'express';
import type { Cookies } from '../cookies.ts';
import { PageMissingError, type Pages, wantsPage } from '../pages.ts';
import type { Route } from '../routes/route.ts';
import { siteAt } from '../site.ts';

interface StartDeps {
  pages: Pages;
  cookies: Pick<Cookies, 'sessions'>;
}

export const startRoutes: readonly Route<StartDeps>[] = [
  { path: '/', methods: { GET: { handler: startPage, openApi: 'page' } } },
];

/** The account of a person who is signed in, and of every visitor of a custom domain; else a page that describes this address. */
function startPage({ pages, cookies }: StartDeps): RequestHandler {
  return (req, res) => {
    const { domain } = siteAt(req);
    if (domain !== null) return res.redirect(303, '/account');
    if (cookies.sessions(req).length === 0) return pages.send(req, res, 'plain/start');
    res.setHeader('Cache-Control', 'no-store');
    res.redirect(303, '/account');
  };
}

/** The 404 response: a page for browsers, a line for programs. Express's own waits for the end of the body. */
export function missingPage(pages: Pages): RequestHandler {
  return (req, res) => {
    const isPerson = (req.method === 'GET' || req.method === 'HEAD') && wantsPage(req);
    if (isPerson && isSent(() => pages.send(req, res, 'plain/missing', { status: 404 }))) return;
    res.status(404).type('text/plain').send('Not found.\n');
  };
}

/** False if the console is not built. */
function isSent(send: () => void): boolean {
  try {
    send();
    return true;
  } catch (error) {
    if (error instanceof PageMissingError) return false;
    throw error;
  }
}
