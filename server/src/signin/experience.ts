import type { Request, RequestHandler, Response } from 'express';
import type { CheckedPage, SigninCallers } from '../domain/ceremonies/callers.ts';
import { type AccentTones, accentCss, accentTheme } from '../domain/experience/accent.ts';
import { Refusal } from '../domain/kernel/problem.ts';
import { inAllProjects } from '../domain/kernel/scope.ts';
import { readableBy } from '../http/cors.ts';
import { siteAt } from '../http/site.ts';
import type { SigninPageDeps } from './page.ts';

/**
 * `GET /experience/accent/<rule>/<rrggbb>.css`: a color for both themes, adjusted for contrast. Derived only from the
 * URL, so it is public and immutable.
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
    // Pages of applications show it, too.
    res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    res.type(logo.type).send(Buffer.from(logo.bytes));
  };
}

interface BrandingDeps extends Pick<SigninPageDeps, 'db' | 'experiences'> {
  callers: Pick<SigninCallers, 'byApiKey'>;
}

/** Colors that `<latchkey-sign-in>` sets, by its custom properties. */
const properties = { accent: 'accent', 'on-accent': 'onAccent', link: 'accentText' } as const satisfies Record<
  string,
  keyof AccentTones
>;

/**
 * `GET /experience/of/<publishable key>`: the published branding of the key's project, for `<latchkey-sign-in>` on a page
 * of a registered origin. `colors` are adjusted for contrast, each for the light and the dark theme; `logo` are ids. Every
 * other request gets 404, and the form keeps its own look.
 */
export function brandingOf({ callers, db, experiences }: BrandingDeps): RequestHandler {
  return async (req, res) => {
    const page = await pageOf(callers, req);
    if (!page) return missing(res);
    const { accent, logoId, darkLogoId } = await experiences.published(db.reader(), page.project.id);
    const logo = logoId ?? darkLogoId;
    const theme = accent === null ? null : accentTheme(accent);
    const colors = Object.entries(properties).map(([name, tone]) => [
      name,
      theme && [theme.light[tone], theme.dark[tone]],
    ]);
    res.vary('Origin');
    readableBy(res, page.origin);
    res.setHeader('Cache-Control', 'private, max-age=60');
    res.json({ colors: theme && Object.fromEntries(colors), logo: logo === null ? null : [logo, darkLogoId ?? logo] });
  };
}

async function pageOf(callers: BrandingDeps['callers'], req: Request): Promise<CheckedPage | null> {
  if (siteAt(req).domain !== null) return null;
  try {
    return await callers.byApiKey(String(req.params['key']), req.get('origin'));
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

function keepForGood(res: Response): void {
  res.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
  res.setHeader('X-Content-Type-Options', 'nosniff');
}

function missing(res: Response): void {
  res.setHeader('Cache-Control', 'no-store');
  res.status(404).type('text/plain').send('Not found\n');
}
