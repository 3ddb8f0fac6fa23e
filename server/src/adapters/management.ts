import { createServer, type Server, type ServerResponse } from 'node:http';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

/** One condition of readiness; a string says what is wrong. */
export type Check = () => Promise<string | null>;

/** The figures that this process shows. */
export class Metrics {
  readonly registry = new Registry();
  readonly requests: Histogram<'room' | 'method' | 'status'>;
  readonly jobs: Counter<'job' | 'result'>;

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    this.requests = new Histogram({
      name: 'latchkey_http_request_seconds',
      help: 'Time to answer a request.',
      labelNames: ['room', 'method', 'status'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers: [this.registry],
    });
    this.jobs = new Counter({
      name: 'latchkey_jobs_total',
      help: 'Jobs done, by result.',
      labelNames: ['job', 'result'],
      registers: [this.registry],
    });
  }
}

export interface ManagementOptions {
  metrics: Metrics;
  checks: Record<string, Check>;
  /** True until the process begins to drain. */
  isServing: () => boolean;
}

/** What operators ask, on a port of its own that no user reaches: `/health/live`, `/health/ready`, `/metrics`. */
export function managementServer(options: ManagementOptions): Server {
  return createServer(async (req, res) => {
    const path = req.url?.split('?')[0];
    if (req.method !== 'GET' && req.method !== 'HEAD') return void res.writeHead(405, { Allow: 'GET, HEAD' }).end();
    if (path === '/health/live') return json(res, 200, { status: 'live' });
    if (path === '/health/ready') {
      const faults = await failing(options);
      return json(res, faults.length === 0 ? 200 : 503, {
        status: faults.length === 0 ? 'ready' : 'not ready',
        faults,
      });
    }
    if (path === '/metrics') {
      const body = await options.metrics.registry.metrics();
      return void res.writeHead(200, { 'Content-Type': options.metrics.registry.contentType }).end(body);
    }
    json(res, 404, { status: 'not found' });
  });
}

async function failing({ checks, isServing }: ManagementOptions): Promise<string[]> {
  if (!isServing()) return ['the process is shutting down'];
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const fault = await check().catch((error: unknown) => (error instanceof Error ? error.message : 'failed'));
      return fault === null ? [] : [`${name}: ${fault}`];
    }),
  );
  return results.flat();
}

function json(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }).end(JSON.stringify(body));
}
