import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { renderConfigMarkdown } from '../src/config.ts';
import { allMetrics } from './all-metrics.ts';

const root = join(import.meta.dirname, '..');
const text = (path: string) => readFileSync(join(root, path), 'utf8');

interface Rule {
  alert: string;
  expr: string;
  for?: string;
  annotations: { summary: string };
}
const { groups } = parse(text('deploy/prometheus-rules.yml')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(text('deploy/grafana-dashboard.json')) as {
  panels: { id: number; title: string; targets: { expr: string }[] }[];
};
const queries = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
const metricsIn = (expressions: string[]) =>
  new Set(expressions.flatMap((one) => one.match(/\b(?:latchkey|nodejs|process)_[a-z0-9_]+\b/g) ?? []));

it('every metric of the alerts and the dashboard exists, and every metric of Latchkey is on the dashboard', async () => {
  const known = await allMetrics();
  const shown = metricsIn(queries);
  for (const name of metricsIn([...queries, ...rules.map(({ expr }) => expr)]))
    expect(known, name).toContain(name.replace(/_(count|bucket|sum)$/, ''));
  for (const name of known.filter((one) => one.startsWith('latchkey_')))
    expect([...shown].map((one) => one.replace(/_(count|bucket|sum)$/, ''))).toContain(name);
});

it('the alerts are those of the documentation', () => {
  const documented = text('docs/monitoring.md').replaceAll('\\|', '|');
  for (const { alert, expr } of rules) {
    const condition = expr.replaceAll('{job=~".*latchkey.*"}', '');
    expect(documented, alert).toContain(condition);
  }
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
});

it('each panel has a unique id', () => {
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
});

// oxlint-disable-next-line typescript/no-explicit-any -- Kubernetes' own shapes
const manifest = (name: string): any => parse(text(`deploy/kubernetes/${name}`));

it('the Kubernetes base has two replicas, probes on the management port, and selectors that match', () => {
  const deployment = manifest('deployment.yaml');
  const { template, replicas, selector } = deployment.spec;
  expect(replicas).toBe(2);
  const [container] = template.spec.containers;
  const probes = ['startupProbe', 'readinessProbe', 'livenessProbe'].map((name) => container[name].httpGet);
  expect(probes).toEqual(['started', 'ready', 'live'].map((path) => ({ path: `/health/${path}`, port: 'management' })));
  expect(container.ports.map(({ containerPort }: { containerPort: number }) => containerPort)).toEqual([3000, 9000]);
  for (const labels of [
    selector.matchLabels,
    manifest('disruption.yaml').spec.selector.matchLabels,
    manifest('service.yaml').spec.selector,
  ])
    expect(labels).toEqual(template.metadata.labels);
  const env = Object.fromEntries(container.env.map(({ name, value }: Record<string, string>) => [name, value]));
  expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(env.SHUTDOWN_GRACE_SECONDS));
  const literals = manifest('kustomization.yaml').configMapGenerator[0].literals as string[];
  for (const name of [...Object.keys(env), ...literals.map((line) => line.split('=', 1)[0] as string)])
    expect(renderConfigMarkdown()).toContain(`| \`${name}\` |`);
});

it('the role of Latchkey in the Compose file owns its database, and is no superuser', () => {
  const compose = parse(readFileSync(join(root, '../docker-compose.yml'), 'utf8'));
  const { environment, volumes } = compose.services.postgres;
  // The image makes this one a superuser.
  expect(environment).toEqual({ POSTGRES_PASSWORD_FILE: '/keys/superuser.password' });
  expect(volumes).toContain('./server/deploy/postgres-init.sql:/docker-entrypoint-initdb.d/latchkey.sql:ro');
  const statements = text('deploy/postgres-init.sql').split('\n');
  expect(statements.filter((line) => /^(create|grant|alter)/.test(line))).toEqual([
    "create role latchkey login password :'password';",
    'create database latchkey owner latchkey;',
    'create role latchkey_tenant nologin;',
    'grant latchkey_tenant to latchkey;',
  ]);
  expect(compose.services.keys.command[0]).toContain("'postgresql://latchkey:%s@postgres/latchkey'");
});

it('the Kubernetes base lists all of its files', () => {
  const files = readdirSync(join(root, 'deploy/kubernetes')).filter((name) => name !== 'kustomization.yaml');
  expect(manifest('kustomization.yaml').resources.sort()).toEqual(files.sort());
});

it('the units of systemd run the program with the flags of the image, on one socket, until it has started', () => {
  const unit = text('deploy/systemd/latchkey@.service');
  const flags = /exec node (.*) \/app\//.exec(text('deploy/latchkey.sh'))?.[1];
  expect(flags).toBeTruthy();
  expect(unit).toContain(`/bin/node ${flags} server/dist/main.js\n`);
  expect(unit).toContain('Sockets=latchkey.socket\n');
  expect(text('src/adapters/http/management.ts')).toContain(`'${/127\.0\.0\.1:900%i(\S+);/.exec(unit)?.[1]}'`);
  expect(text('deploy/systemd/latchkey.socket').match(/^ListenStream=/gm)).toHaveLength(1);
});
