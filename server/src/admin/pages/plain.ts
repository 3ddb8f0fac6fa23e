import { createHash } from 'node:crypto';
import type { Response } from 'express';
import { escapeHtml } from '../../http/html.ts';

/** For every page below /admin and /setup: no caching, framing or referrer. */
export const pageHeaders = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': policy({
    'script-src': "'self'",
    'style-src': "'self'",
    'connect-src': "'self'",
    'form-action': "'self'",
  }),
};

/** Sends a page with an inline style sheet and no script. */
export function sendPlainPage(res: Response, status: number, title: string, body: string): void {
  const hash = createHash('sha256').update(style).digest('base64');
  res.setHeader('Content-Security-Policy', policy({ 'style-src': `'sha256-${hash}'` }));
  res
    .status(status)
    .type('html')
    .send(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)} · Latchkey</title>
<style>${style}</style>
</head>
<body><main>${body}</main></body>
</html>
`);
}

/** A content security policy that allows `sources` and our own images only. */
export function policy(sources: Record<string, string>): string {
  const all = {
    'default-src': "'none'",
    'img-src': "'self' data:",
    'base-uri': "'none'",
    'frame-ancestors': "'none'",
    ...sources,
  };
  return Object.entries(all)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ');
}

const style = `
:root { color-scheme: light dark; --text: #1b1f24; --muted: #57606a; --line: #d8dee4; --background: #fff; --accent: #0b5cad; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e9ed; --muted: #a0a9b4; --line: #3a424c; --background: #14171b; --accent: #7db8f5; }
}
body { margin: 0; background: var(--background); color: var(--text); font: 1rem/1.6 system-ui, sans-serif; }
main { max-width: 44rem; margin: 0 auto; padding: 3rem 1.5rem; }
h1 { font-size: 1.5rem; line-height: 1.3; margin: 0 0 .5rem; }
h2 { font-size: 1.125rem; margin: 2.5rem 0 .5rem; }
p { margin: .5rem 0; }
.muted { color: var(--muted); }
a { color: var(--accent); }
a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
pre { overflow-x: auto; padding: 1rem; border: 1px solid var(--line); border-radius: .5rem; font-size: .875rem; }
ul { padding-left: 1.25rem; }
`;
