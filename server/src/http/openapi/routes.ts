/**
 * The description of the REST interfaces: `/openapi.json` (OpenAPI 3.1) for programs, `/openapi` for people. Public and the
 * same for every caller. Each protocol describes its own endpoints.
 */
import { Router } from 'express';
import { digest } from '../../domain/kernel/secret.ts';
import { briefly } from '../built-files.ts';
import { cors } from '../cors.ts';
import type { Pages } from '../pages.ts';
import type { OpenApiDocument } from './document.ts';
import { referencePage } from './page.ts';

export function openApiRoutes(document: OpenApiDocument, pages: Pick<Pages, 'send'>): Router {
  const router = Router();
  const body = JSON.stringify(document);
  const etag = `"${digest(body)}"`;
  const operations = referencePage(document).text;
  router.get('/openapi.json', cors({ origin: '*', methods: ['GET'], requestHeaders: [] }), (req, res) => {
    res.setHeader('Cache-Control', briefly);
    res.setHeader('ETag', etag);
    if (req.fresh) res.status(304).end();
    else res.type('json').send(body);
  });
  router.get('/openapi', (req, res) => pages.send(req, res, 'plain/reference', { html: { operations } }));
  return router;
}
