import type { AddressInfo } from 'node:net';
import { Gauge } from 'prom-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Metrics } from '../telemetry/metrics.ts';
import { managementServer } from './management.ts';

const metrics = new Metrics();
const server = managementServer({
  version: '1.2.3',
  metrics,
  checks: { database: async () => null },
  phase: () => 'serving',
  servesHost: async () => true,
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => server.close().closeAllConnections());

function get(path: string): Promise<Response> {
  const { port } = server.address() as AddressInfo;
  return fetch(`http://127.0.0.1:${port}${path}`);
}

it.each(['live', 'started', 'ready'])('/health/%s names the release', async (check) => {
  const response = await get(`/health/${check}`);
  expect(await response.json()).toMatchObject({ status: check, version: '1.2.3' });
});

it('a metric that cannot be read fails its request, not the process', async () => {
  const collect = async (): Promise<void> => {
    throw new Error('no answer');
  };
  new Gauge({ name: 'broken', help: 'Never has a value.', registers: [metrics.registry], collect });
  expect((await get('/metrics')).status).toBe(500);
  metrics.registry.removeSingleMetric('broken');
  expect((await get('/metrics')).status).toBe(200);
});
