import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Metrics } from '../telemetry/metrics.ts';
import { managementServer } from './management.ts';

const server = managementServer({
  version: '1.2.3',
  metrics: new Metrics(),
  checks: { database: async () => null },
  phase: () => 'serving',
  servesHost: async () => true,
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => server.close().closeAllConnections());

it.each(['live', 'started', 'ready'])('/health/%s names the release', async (check) => {
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/health/${check}`);
  expect(await response.json()).toMatchObject({ status: check, version: '1.2.3' });
});
