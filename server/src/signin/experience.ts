import type { RequestHandler, Response } from 'express';
import { accentCss } from '../domain/experience/accent.ts';
import { inAllProjects } from '../domain/kernel/scope.ts';
import type { SigninPageDeps } from './page.ts';

/**
 * `GET /experience/accent/<rule>/<rrggbb>.css`: a colour for both themes, adjusted for contrast. Derived from the URL
 * alone, so it is public and immutable.
 */
export const accentSheet: RequestHandler = (req, res) => {
  const color = String(req.params['color']);
  if (!/^[0-9a-f]{6}$/.test(color)) return missing(res);
  keepForGood(res);
  res.type('css').send(accentCss(`#${color}`));
};

/** `GET /experience/logos/<id>`: the uploaded image, served so that browsers treat it only as an image. */
export function logoFile({ db, experiences }: Pick<SigninPageDeps, 'db' | 'experiences'>): RequestHandler {
  return async (req, res) => {
    const logo = await inAllProjects(() => experiences.logo(db.reader(), String(req.params['id'])));
    if (!logo) return missing(res);
    keepForGood(res);
    res.setHeader('Content-Security-Policy', "default-src 'none'; sandbox");
    res.type(logo.type).send(Buffer.from(logo.bytes));
  };
}

function keepForGood(res: Response): void {
  res.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
  res.setHeader('X-Content-Type-Options', 'nosniff');
}

function missing(res: Response): void {
  res.setHeader('Cache-Control', 'no-store');
  res.status(404).type('text/plain').send('Not found\n');
}
