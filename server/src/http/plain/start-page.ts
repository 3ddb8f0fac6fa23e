import type { RequestHandler } from 'express';
import type { Cookies } from '../cookies.ts';
import { PageMissingError, type Pages, wantsPage } from '../pages.ts';

/** `GET /`: the account of a person who is signed in; else a page that describes this address. */
export function startPage(pages: Pages, cookies: Pick<Cookies, 'sessions'>): RequestHandler {
  return (req, res) => {
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
