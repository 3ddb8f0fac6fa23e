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

/**
 * Health and metrics, on a port that is not public. `/health/live`: the process runs; restart it if this fails. It does
 * not depend on the database. `/health/started`: start-up is complete. `/health/ready`: the process can serve requests;
 * route none to it if this fails. `/metrics`: Prometheus format. `/internal/domains/check?domain=`: 200 if a certificate may
 * be issued for that host (`ask` of Caddy's on-demand TLS), else 404.
 */
export function managementServer(options: ManagementOptions): Server {
  return createServer(async (req, res) => {
    const { version } = options;
    const path = req.url?.split('?')[0];
    if (req.method !== 'GET' && req.method !== 'HEAD') return void res.writeHead(405, { Allow: 'GET, HEAD' }).end();
    if (path === '/health/live') return json(res, 200, { status: 'live', version });
    if (path === '/health/started') {
      const hasStarted = options.phase() !== 'starting';
      return json(res, hasStarted ? 200 : 503, { status: hasStarted ? 'started' : 'starting', version });
    }
    if (path === '/health/ready') {
      const faults = await failing(options);
      return json(res, faults.length === 0 ? 200 : 503, {
        status: faults.length === 0 ? 'ready' : 'not ready',
        version,
        faults,
        warnings: options.warnings?.() ?? [],
      });
    }
    if (path === '/metrics') {
      const body = await options.metrics.registry.metrics();
      return void res.writeHead(200, { 'Content-Type': options.metrics.registry.contentType }).end(body);
    }
    if (path === '/internal/domains/check') {
      const host = new URL(req.url ?? '', 'http://localhost').searchParams.get('domain') ?? '';
      const isServed = await options.servesHost(host).catch(() => null);
      if (isServed === null) return json(res, 503, { status: 'unavailable' });
      return json(res, isServed ? 200 : 404, { status: isServed ? 'served' : 'not served' });
    }
    json(res, 404, { status: 'not found' });
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

function json(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }).end(JSON.stringify(body));
}
