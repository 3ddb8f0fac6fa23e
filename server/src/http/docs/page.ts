/** `/docs`: the documentation of this version, with the address of this instance. Public, at the base host. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Request, RequestHandler, Response } from 'express';
import { briefly } from '../built-files.ts';
import { escapeHtml } from '../html.ts';
import { PageMissingError } from '../pages.ts';
import type { Route } from '../routes/route.ts';

interface DocsDeps {
  consoleFolder: string;
  /** The base address. */
  issuer: string;
  version: string;
  /** The response to an unknown page. */
  missing: RequestHandler;
}

interface Docs {
  pages: { name: string; title: string; html: string; markdown: string }[];
  search: unknown;
  llms: string;
}

const unlisted = { openApi: 'page' } as const;

export const docsRoutes: readonly Route<DocsDeps>[] = [
  { path: '/docs', methods: { GET: { handler: sendPage, ...unlisted } } },
  {
    path: '/docs/search.json',
    methods: {
      GET: { handler: sendText('json', ({ search }) => JSON.stringify(search)), openApi: 'asset of the pages' },
    },
  },
  { path: '/docs/llms.txt', methods: { GET: { handler: sendText('txt', ({ llms }) => llms), ...unlisted } } },
  { path: '/docs/:page', methods: { GET: { handler: sendPage, ...unlisted } } },
];

/** The address that stands for the instance in the documentation. */
const example = 'https://id.example.com';

/** A page, or its Markdown by the ending `.md`. */
function sendPage(deps: DocsDeps): RequestHandler {
  const read = reader(deps.consoleFolder);
  return (req, res, next) => {
    const asked = String(req.params['page'] ?? '');
    const name = asked.replace(/\.md$/, '').replace(/^README$/, '');
    const { docs, template } = read();
    const page = docs.pages.find((one) => one.name === name);
    if (!page) return deps.missing(req, res, next);
    if (asked.endsWith('.md')) return send(res, 'text/markdown', withAddress(page.markdown, deps));
    res.setHeader('Content-Security-Policy', policy);
    const nav = docs.pages.map((one) => {
      const current = one === page ? ' aria-current="page"' : '';
      return `<li><a href="/docs${one.name && `/${one.name}`}"${current}>${escapeHtml(one.title)}</a></li>`;
    });
    const values: Record<string, string> = {
      title: escapeHtml(page.title),
      version: escapeHtml(deps.version),
      nav: nav.join(''),
      body: withAddress(page.html, deps),
    };
    send(
      res,
      'html',
      template.replace(/%\{(\w+)\}/g, (_whole, key: string) => values[key] ?? ''),
    );
  };
}

function sendText(type: string, textOf: (docs: Docs) => string) {
  return (deps: DocsDeps): RequestHandler => {
    const read = reader(deps.consoleFolder);
    return (_req: Request, res) => send(res, type, withAddress(textOf(read().docs), deps));
  };
}

function send(res: Response, type: string, text: string): void {
  res.setHeader('Cache-Control', briefly);
  res.type(type).send(text);
}

const withAddress = (text: string, { issuer }: DocsDeps) => text.replaceAll(example, issuer);

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** Reads the pages of the build, again after a new one. */
function reader(folder: string): () => { docs: Docs; template: string } {
  let known: { changedAt: number; docs: Docs; template: string } | undefined;
  return () => {
    const file = join(folder, 'docs/docs.json');
    try {
      const changedAt = statSync(file).mtimeMs;
      known = known?.changedAt === changedAt ? known : undefined;
      known ??= {
        changedAt,
        docs: JSON.parse(readFileSync(file, 'utf8')) as Docs,
        template: readFileSync(join(folder, 'docs/index.html'), 'utf8'),
      };
      return known;
    } catch (cause) {
      throw new PageMissingError('docs/docs.json is missing: build the console first', { cause });
    }
  };
}
