import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { providerSteps } from '../providers/steps.ts';
import type { Connection } from './connection-part.ts';
import { adviceFor } from './failures.ts';
import { byCount, isFailing } from './health.ts';
import { providerOf, providers } from './providers.ts';
import { inputOf, isComplete, needsSecret, valuesOf } from './settings/settings-values.ts';

const source = (path: string) => readFileSync(new URL(`../../../server/src/${path}`, import.meta.url), 'utf8');

const connection = {
  ...{ id: 'c', name: 'Acme', kind: 'OIDC', preset: 'google', state: 'ENABLED', hasSecret: true, identities: 3 },
  ...{
    jit: false,
    refreshesProfile: false,
    acceptsAssertions: false,
    mappings: { givenName: 'given_name', locale: 'locale' },
  },
  oidc: { issuer: 'https://idp.example', clientId: 'latchkey', scopes: ['openid', 'email'], hostedDomain: null },
  ...{ failures: [], lastSuccessAt: null, lastFailureAt: null },
} as unknown as Connection;

describe('the providers', () => {
  it('are the presets of the API, each once, with its form of the issuer unless that is fixed', () => {
    const [, presets] = /input CreateConnectionInput \{.*?"""\s*(`generic`[^"]*?)\s*"""/s.exec(
      source('admin/schema.graphql'),
    ) as unknown as [string, string];
    const names = [...presets.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(8);
    expect(providers.map(({ id }) => id).sort()).toEqual(names.sort());
    const fixed = [...source('domain/connections/presets.ts').matchAll(/^ {2}(\w+): \{[^}]*?\bissuer: '/gm)];
    expect(
      providers
        .filter(({ issuer }) => issuer === undefined)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(fixed.map(([, name]) => name).sort());
  });

  it('have steps for each kind that they support', () => {
    expect(Object.keys(providerSteps)).toEqual(providers.map(({ id }) => id));
    const withSaml = providers.filter(({ hasSaml }) => hasSaml).map(({ id }) => id);
    expect(Object.keys(providerSteps).filter((id) => providerSteps[id]?.saml)).toEqual(withSaml);
  });

  it('include one that this console does not have yet, by its name', () => {
    expect(providerOf('newer')).toMatchObject({ name: 'newer', issuer: '' });
  });
});

it('every failure of a sign-in has advice', () => {
  const [, union] = /UpstreamFault =([^;]*);/.exec(source('domain/connections/upstream.ts')) as unknown as [
    string,
    string,
  ];
  const faults = [...union.matchAll(/'([a-z-]+)'/g)].map(([, fault]) => fault as string);
  expect(faults.length).toBeGreaterThan(10);
  expect(faults.filter((fault) => adviceFor(fault) === '')).toEqual([]);
});

it.each([
  ['ENABLED', null, null, false],
  ['ENABLED', null, '2026-03-01T10:00:00Z', true],
  ['ENABLED', '2026-03-01T09:00:00Z', '2026-03-01T10:00:00Z', true],
  ['ENABLED', '2026-03-01T11:00:00Z', '2026-03-01T10:00:00Z', false],
  ['DRAFT', null, '2026-03-01T10:00:00Z', false],
] as const)('a connection that is %s, succeeded %s and failed %s needs attention: %s', (state, success, failed, is) => {
  expect(isFailing({ state, lastSuccessAt: success, lastFailureAt: failed })).toBe(is);
});

it('lists the most frequent failure first', () => {
  const failures = [
    { reason: 'time', count: 1 },
    { reason: 'denied', count: 7 },
  ];
  expect(byCount(failures).map(({ reason }) => reason)).toEqual(['denied', 'time']);
});

describe('the settings', () => {
  const saved = valuesOf(connection);

  it('send edits alone, and never an empty secret', () => {
    expect(inputOf(saved, { name: 'Acme Corp', clientSecret: '' })).toEqual({ name: 'Acme Corp' });
    expect(inputOf(saved, { clientSecret: ' s3cret ', issuer: ' https://idp.example/ ' })).toEqual({
      oidc: { clientSecret: 's3cret', issuer: 'https://idp.example/' },
    });
  });

  it('replace all mappings together, without empty ones', () => {
    expect(inputOf(saved, { locale: '', displayName: 'name' })).toEqual({
      mappings: { givenName: 'given_name', displayName: 'name' },
    });
  });

  it('split scopes at spaces', () => {
    expect(inputOf(saved, { scopes: ' openid  email\tgroups ' })).toEqual({
      oidc: { scopes: ['openid', 'email', 'groups'] },
    });
  });

  it('require the secret again for another issuer', () => {
    const moved = { ...saved, issuer: 'https://other.example' };
    expect(needsSecret(connection, saved)).toBe(false);
    expect(needsSecret(connection, moved)).toBe(true);
    expect(needsSecret(connection, { ...moved, clientSecret: 'new' })).toBe(false);
    expect(needsSecret({ ...connection, hasSecret: false }, moved)).toBe(false);
  });

  it('are complete with issuer and client ID', () => {
    expect(isComplete(connection)).toBe(true);
    for (const missing of [{ issuer: '' }, { clientId: '' }]) {
      expect(isComplete({ ...connection, oidc: { ...connection.oidc!, ...missing } })).toBe(false);
    }
    const saml = { entityId: 'https://idp.example' } as NonNullable<Connection['saml']>;
    expect(isComplete({ ...connection, oidc: null, saml })).toBe(true);
    expect(isComplete({ ...connection, oidc: null, saml: { ...saml, entityId: '' } })).toBe(false);
  });
});
