import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Router } from 'express';
import type { Clients } from '../../domain/clients/clients.ts';

/** Dependencies of the sample relying party. */
export interface DemoDeps {
  clients: Pick<Clients, 'builtIn'>;
  issuer: string;
  /** Folder of the console's build. */
  consoleDist: string;
}

/** `/demo`: a sample relying party; 404 without its client. */
export function demoRoutes({ clients, issuer, consoleDist }: DemoDeps): Router {
  const router = Router();
  const clientId = async () => {
    const client = await clients.builtIn('demo');
    return client?.disabledAt ? undefined : client?.id;
  };
  router.get('/', async (_req, res, next) => {
    if (!(await clientId())) return next();
    const page = await readFile(join(consoleDist, 'demo', 'index.html'), 'utf8').catch(() => null);
    if (page === null) return res.status(503).type('text').send('The demo page has not been built: npm run build.');
    res.type('html').send(page);
  });
  router.get('/config.json', async (_req, res, next) => {
    const id = await clientId();
    if (!id) return next();
    res.json({ issuer, client_id: id, redirect_uri: `${issuer}/demo` });
  });
  return router;
}
