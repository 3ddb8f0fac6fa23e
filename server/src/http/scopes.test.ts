import { expect, it } from 'vitest';
import { userScopes } from '../domain/projects/issuer.ts';
import { scopeTexts } from './scopes.ts';

it('has a sentence for each scope that concerns users', () => {
  const keys = userScopes.flatMap((scope) => scopeTexts([scope])).map(({ key }) => key);
  expect(keys).not.toContain('scope.other');
});
