import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RequestHandler } from 'express';
import type { Clients } from '../../domain/clients/clients.ts';

/** Dependencies of the sample relying party. */
export interface DemoDeps {
  clients: Pick<Clients, 'builtIn'>;
  issuer: string;
  /** Folder of the console's build. */
  consoleDist: string;
}

async function clientId({ clients }: DemoDeps): Promise<string | undefined> {
  const client = await clients.builtIn('demo');
  return client?.disabledAt ? undefined : client?.id;
}

/** `/demo`: a sample relying party; 404 without its client. */
export function demoPage(deps: DemoDeps): RequestHandler {
  const { consoleDist } = deps;
  return async (_req, res, next) => {
    if (!(await clientId(deps))) return next('route');
    const page = await readFile(join(consoleDist, 'demo', 'index.html'), 'utf8').catch(() => null);
    if (page === null) return res.status(503).type('text').send('The demo page has not been built: npm run build.');
    res.type('html').send(page);
  };
}

/** `/demo/config.json`: the settings of the demo. */
export function demoConfig(deps: DemoDeps): RequestHandler {
  const { issuer } = deps;
  return async (_req, res, next) => {
    const id = await clientId(deps);
    if (!id) return next('route');
    res.json({ issuer, client_id: id, redirect_uri: `${issuer}/demo` });
  };
}
