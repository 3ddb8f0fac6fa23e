import { createHash } from 'node:crypto';
import type { Response } from 'express';
import { chooseLocale, continueLabels, directionOf } from '../domain/delivery/locale.ts';
import { escapeHtml, hiddenFields } from './html.ts';

const script = 'document.forms[0].submit();';
const scriptHash = createHash('sha256').update(script).digest('base64');

/**
 * A page that posts the fields to a registered redirect URI (OAuth 2.0 Form Post Response Mode 1.0 §2). It has no
 * `form-action`: browsers apply that to redirects after the post, too, and nothing here but the registered URI is a target.
 */
export function sendForm(res: Response, target: string, fields: Record<string, string>): void {
  const language = chooseLocale(undefined, res.req.get('accept-language'));
  res.setHeader(
    'Content-Security-Policy',
    `default-src 'none'; script-src 'sha256-${scriptHash}'; frame-ancestors 'none'; base-uri 'none'`,
  );
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('Referrer-Policy', 'no-referrer');
  res.setHeader('X-Frame-Options', 'DENY');
  // For browsers without JavaScript.
  const label = continueLabels[language];
  res
    .type('html')
    .send(
      `<!doctype html><html lang="${language}" dir="${directionOf(language)}"><head><meta charset="utf-8"><title>${label}</title></head><body>` +
        `<form method="post" action="${escapeHtml(target)}">${hiddenFields(fields)}<button>${label}</button></form>` +
        `<script>${script}</script></body></html>`,
    );
}
