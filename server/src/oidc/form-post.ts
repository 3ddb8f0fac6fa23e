import { createHash } from 'node:crypto';
import type { Response } from 'express';
import { escapeHtml, hiddenFields } from '../http/html.ts';

const script = 'document.forms[0].submit();';
const scriptHash = createHash('sha256').update(script).digest('base64');

/** Labels of the button, for browsers without JavaScript. */
const labels: Record<string, string> = { en: 'Continue', de: 'Weiter', es: 'Continuar', fr: 'Continuer', ja: '続ける' };

/**
 * A page that posts the fields to a registered redirect URI (OAuth 2.0 Form Post Response Mode 1.0 §2). It has no
 * `form-action`: browsers apply that to redirects after the post, too, and nothing here but the registered URI is a target.
 */
export function sendForm(res: Response, target: string, fields: Record<string, string>): void {
  const language = res.req.acceptsLanguages(Object.keys(labels)) || 'en';
  res.setHeader(
    'Content-Security-Policy',
    `default-src 'none'; script-src 'sha256-${scriptHash}'; frame-ancestors 'none'; base-uri 'none'`,
  );
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('Referrer-Policy', 'no-referrer');
  res.setHeader('X-Frame-Options', 'DENY');
  const label = labels[language] ?? 'Continue';
  res
    .type('html')
    .send(
      `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><title>${label}</title></head><body>` +
        `<form method="post" action="${escapeHtml(target)}">${hiddenFields(fields)}<button>${label}</button></form>` +
        `<script>${script}</script></body></html>`,
    );
}
