import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { claimDescriptions } from './claim-descriptions.ts';

const discovery = new URL('../../../server/src/oidc/generated/openid-configuration-of-project.json', import.meta.url);

it('every claim that the discovery document lists has a description', () => {
  const { claims_supported: claims } = JSON.parse(readFileSync(discovery, 'utf8')) as { claims_supported: string[] };
  expect(claims).toContain('groups');
  expect(claims.filter((claim) => !claimDescriptions[claim])).toEqual([]);
});
