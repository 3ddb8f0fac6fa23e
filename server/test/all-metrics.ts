import { Metrics } from '../src/adapters/telemetry/metrics.ts';

/** Names of all metrics of a server. */
export async function allMetrics(): Promise<string[]> {
  const metrics = new Metrics();
  metrics.watchDatabase({ fault: null, use: () => ({ total: 0, idle: 0, waiting: 0 }) });
  metrics.watchQueue({ stats: async () => [] });
  metrics.watchBackups(async () => null);
  metrics.watchRelays([]);
  metrics.watchStreams({ lagOfKinds: async () => [] });
  const described = await metrics.registry.metrics();
  return [...described.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name as string);
}
