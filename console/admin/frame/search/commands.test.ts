import { describe, expect, it } from 'vitest';
import { instancePlaces, projectPlaces } from '../places.ts';
import { clientCommands, filteredLists, matching, objectAt, userCommands } from './commands.ts';
import { isSearchable } from './use-search.ts';

const project = projectPlaces('p', true).flatMap(({ places }) => places);
const places = [...project, ...instancePlaces({ isOwner: true, hasDevMailbox: true })];
const found = (wanted: string) => matching([places], wanted).map(({ label }) => label);

describe('the palette', () => {
  it.each([
    ['mfa', 'Sign-in & MFA'],
    ['2fa', 'Sign-in & MFA'],
    ['totp', 'Sign-in & MFA'],
    ['scim', 'Directory sync'],
    ['okta', 'Directory sync'],
    ['customers', 'Organizations'],
    ['identity provider', 'Connections'],
    ['sso', 'Connections'],
    ['saml metadata', 'Enterprise credentials'],
    ['deactivate', 'Users'],
    ['logo', 'Branding'],
    ['timeout', 'Session policy'],
    ['oidc', 'Applications'],
    ['smtp', 'Messages'],
    ['jwks', 'Signing keys'],
    ['backup', 'System'],
    ['delete custom', 'Settings'],
  ])('finds a page by the word %s', (wanted, label) => {
    expect(found(wanted)[0]).toBe(label);
  });

  it.each(['deactivated', 'Deactivated'])('finds the deactivated users by "%s"', (wanted) => {
    const found = matching([filteredLists('/projects/p'), places], wanted);
    expect(found[0]).toMatchObject({ label: 'Deactivated', to: '/projects/p/users?state=inactive' });
  });

  it('has no page of organizations where the project has none', () => {
    const labels = projectPlaces('p', false).flatMap((group) => group.places.map(({ label }) => label));
    expect(labels).toContain('Groups');
    expect(labels).not.toContain('Organizations');
  });

  it('lists whole words first, and requires every word', () => {
    expect(found('sign')[0]).toBe('Sign-in & MFA');
    expect(found('audit')).toEqual(['Audit', 'Events']);
    expect(found('port')).toEqual([]);
    expect(found('scim nonsense')).toEqual([]);
    expect(found('')).toHaveLength(places.length);
  });

  it('finds translated labels by words without accents, and in any script', () => {
    const labels = ['Paramètres', 'Größe', 'アクセス'].map((label) => ({ label }));
    const of = (wanted: string) => matching([labels], wanted).map(({ label }) => label);
    expect(of('parametres')).toEqual(['Paramètres']);
    expect(of('GROSSE')).toEqual(['Größe']);
    expect(of('ア')).toEqual(['アクセス']);
  });

  it('searches on the server for one character of a script such as Chinese, and for two letters', () => {
    expect(['山', 'ß', 'ad'].every(isSearchable)).toBe(true);
    expect(['', 'a', '7'].some(isSearchable)).toBe(false);
  });

  it('offers the actions of the user whose page is open', () => {
    const user = objectAt('/projects/p/users/u');
    expect(user).toMatchObject({ kind: 'user', id: 'u' });
    const labels = (active: boolean, mayChange: boolean) =>
      userCommands(user!, { active }, mayChange).map(({ label }) => label);
    expect(labels(true, true)).toContain('Deactivate');
    expect(labels(false, true)).toContain('Activate');
    expect(labels(false, true)).not.toContain('Deactivate');
    expect(labels(true, false)).toEqual(['Show events']);
    const [first] = matching([userCommands(user!, { active: true }, true), places], 'deactivate');
    expect(first).toMatchObject({ to: '/projects/p/users/u', command: 'DEACTIVATE' });
  });

  it('offers the tabs and actions of the application whose page is open', () => {
    const client = objectAt('/projects/p/applications/c/keys');
    expect(client).toMatchObject({ kind: 'application', id: 'c', path: '/projects/p/applications/c' });
    const commands = clientCommands(client!, { disabled: false }, true);
    expect(matching([commands], 'disable')[0]).toMatchObject({ command: 'disable' });
    expect(clientCommands(client!, { disabled: false }, false).every(({ command }) => command === undefined)).toBe(
      true,
    );
  });

  it.each(['/projects/p/users', '/projects/p/users/import', '/projects/p/applications/new', '/audit'])(
    'finds no object at %s',
    (path) => {
      expect(objectAt(path)).toBeUndefined();
    },
  );
});
