import { createServer, type Server, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Metrics } from '../telemetry/metrics.ts';

/** One readiness check; resolves to the fault, or null. */
export type Check = () => Promise<string | null>;

/** Lifecycle of the process. */
export type Phase = 'starting' | 'serving' | 'stopping';

export interface ManagementOptions {
  /** Of this release; in the body of each health check. */
  version: string;
  metrics: Metrics;
  checks: Record<string, Check>;
  phase: () => Phase;
  /** Faults that do not keep the process from serving. */
  warnings?: () => readonly string[];
  /** Whether this instance serves a host: the base host or a verified custom domain. */
  servesHost(host: string): Promise<boolean>;
}

interface Answer {
  status: number;
  /** JSON. */
  body: object;
}

/** A route of the management port. It answers GET and HEAD, as JSON or as text. */
type Route = (options: ManagementOptions, query: URLSearchParams) => Promise<Answer | { type: string; text: string }>;

const routes: Partial<Record<string, Route>> = {
  /** The process runs; restart it if this fails. Does not depend on the database. */
  '/health/live': async ({ version }) => ({ status: 200, body: { status: 'live', version } }),
  /** Start-up is complete. */
  '/health/started': async ({ phase, version }) => {
    const hasStarted = phase() !== 'starting';
    return { status: hasStarted ? 200 : 503, body: { status: hasStarted ? 'started' : 'starting', version } };
  },
  /** The process can serve requests; route none to it if this fails. */
  '/health/ready': async (options) => {
    const faults = await failing(options);
    const [status, text] = faults.length === 0 ? [200, 'ready'] : [503, 'not ready'];
    const { version, warnings } = options;
    return { status, body: { status: text, version, faults, warnings: warnings?.() ?? [] } };
  },
  /** Prometheus format. */
  '/metrics': async ({ metrics: { registry } }) => ({ type: registry.contentType, text: await registry.metrics() }),
  /** `?domain=`: 200 if a certificate may be issued for that host (`ask` of Caddy's on-demand TLS), else 404. */
  '/internal/domains/check': async ({ servesHost }, query) => {
    const isServed = await servesHost(query.get('domain') ?? '').catch(() => null);
    if (isServed === null) return { status: 503, body: { status: 'unavailable' } };
    return { status: isServed ? 200 : 404, body: { status: isServed ? 'served' : 'not served' } };
  },
};

/** Health and metrics, on a port that is not public. */
export function managementServer(options: ManagementOptions): Server {
  return createServer(async (req, res) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') return void res.writeHead(405, { Allow: 'GET, HEAD' }).end();
    const [path = '', query] = (req.url ?? '').split('?', 2);
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (!route) return json(res, { status: 404, body: { status: 'not found' } });
    const answer = await route(options, new URLSearchParams(query)).catch(() => ({
      status: 500,
      body: { status: 'failed' },
    }));
    if ('body' in answer) return json(res, answer);
    res.writeHead(200, { 'Content-Type': answer.type }).end(answer.text);
  });
}

/** A check that takes longer fails. */
const checkWithinMs = 2_000;

async function failing({ checks, phase }: ManagementOptions): Promise<string[]> {
  if (phase() === 'starting') return ['the process is starting'];
  if (phase() === 'stopping') return ['the process is shutting down'];
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const late = pause(checkWithinMs, 'no answer in time', { ref: false });
      const fault = await Promise.race([check(), late]).catch((error: unknown) =>
        error instanceof Error ? error.message : 'failed',
      );
      return fault === null ? [] : [`${name}: ${fault}`];
    }),
  );
  return results.flat();
}

function json(res: ServerResponse, { status, body }: Answer): void {
  res.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }).end(JSON.stringify(body));
}
