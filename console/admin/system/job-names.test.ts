import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { jobNames } from './job-names.ts';

const source = (path: string) => readFileSync(new URL(`../../../server/src/${path}`, import.meta.url), 'utf8');

it('has a name for every job of the server', () => {
  const periodic = [...source('jobs/jobs.ts').matchAll(/\{ name: '([^']+)', everyMinutes/g)];
  const queued = [...source('domain/domains/domains.ts').matchAll(/endDomainJob = '([^']+)'/g)];
  const names = [...new Set([...periodic, ...queued].map(([, name]) => name as string))];
  expect(names.length).toBeGreaterThan(10);
  expect(Object.keys(jobNames).sort()).toEqual(names.sort());
});
