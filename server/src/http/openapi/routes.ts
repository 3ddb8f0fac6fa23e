/**
 * The description of the REST interfaces: `/openapi.json` (OpenAPI 3.1) for programs, `/openapi` for people. Public and the
 * same for every caller. Each protocol describes its own endpoints.
 */
import type { RequestHandler } from 'express';
import { digest } from '../../domain/kernel/secret.ts';
import { briefly } from '../built-files.ts';
import type { Pages } from '../pages.ts';
import type { Route } from '../routes/route.ts';
import type { OpenApiDocument } from './document.ts';
import { referencePage } from './page.ts';

interface OpenApiDeps {
  /** Composed on first use: most instances are never asked. */
  document: () => OpenApiDocument;
  pages: Pick<Pages, 'send'>;
}

export const openApiRoutes: readonly Route<OpenApiDeps>[] = [
  {
    path: '/openapi.json',
    methods: { GET: { handler: sendDocument, openApi: 'the document itself' } },
    cors: () => ({ origin: '*', requestHeaders: [] }),
  },
  { path: '/openapi', methods: { GET: { handler: sendReference, openApi: 'the document itself' } } },
];

function sendDocument({ document }: OpenApiDeps): RequestHandler {
  let composed: { body: string; etag: string } | undefined;
  const compose = () => {
    const body = JSON.stringify(document());
    return { body, etag: `"${digest(body)}"` };
  };
  return (req, res) => {
    composed ??= compose();
    const { body, etag } = composed;
    res.setHeader('Cache-Control', briefly);
    res.setHeader('ETag', etag);
    if (req.fresh) res.status(304).end();
    else res.type('json').send(body);
  };
}

function sendReference({ document, pages }: OpenApiDeps): RequestHandler {
  let operations: string | undefined;
  return (req, res) => {
    operations ??= referencePage(document()).text;
    return pages.send(req, res, 'plain/reference', { html: { operations } });
  };
}
