import { describe, expect, it } from 'vitest';
import { checkRedirectUri, hasAppScheme, isAllowedOrigin, matchesRedirectUri, startOf } from './redirect-uri.ts';

describe('registering a redirect URI', () => {
  it.each([
    'https://app.example.com/cb',
    'https://app.example.com',
    'https://app.example.com:8443/cb?tenant=a%20b',
    'http://localhost/cb',
    'http://localhost:3000/cb',
    'http://127.0.0.1:8080/',
    'http://[::1]/cb',
    'https://[2001:db8::1]/cb',
    'https://app.example.com:443/cb',
    'https://my_app.example.com/cb',
    'https://xn--pp-uia.example.com/cb',
  ])('accepts %s', (uri) => {
    expect(checkRedirectUri(uri)).toBeNull();
  });

  it.each([
    'http://app.example.com/cb',
    'http://localhost.evil.tld/cb',
    'http://127.0.0.1.evil.tld/cb',
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,hi',
    'com.example.app:/cb',
    '/cb',
    '//app.example.com/cb',
    'https://app.example.com/cb#fragment',
    'https://*.example.com/cb',
    'https://user@app.example.com/cb',
    'https://user:pw@app.example.com/cb',
    'https://app.example.com@evil.tld/cb',
    'https://app.example.com/a/../cb',
    'https://app.example.com/a/..;/cb',
    'https://app.example.com/a/%2e%2e/cb',
    'https://app.example.com\\@evil.tld/',
    'https://app.example.com/ cb',
    'https://app.example.com/cb\n',
    'https://app.example.com/\0',
    'https://app.example.com/100%',
    'https://app.example.com/cb?x=%zz',
    'https://äpp.example.com/cb',
    'HTTPS://app.example.com/cb',
    'https://APP.example.com/cb',
    'https:app.example.com',
    'https:///app.example.com/cb',
    'https://app.example.com:0443/cb',
    'https://a;script-src.example.com/cb',
    'https://a,b.example.com/cb',
    "https://a'b.example.com/cb",
    'https://$a.example.com/cb',
    `https://app.example.com/${'a'.repeat(2100)}`,
    '',
  ])('refuses %j', (uri) => {
    expect(checkRedirectUri(uri)).toEqual(expect.any(String));
  });
});

describe('the scheme of an app (RFC 8252 §7.1)', () => {
  const accepted = [
    'com.example.app:/cb',
    'com.example.app:/oauth2redirect/provider?x=1',
    'com.example.app://callback',
    'app.immich:///oauth-callback',
  ];
  it.each(accepted)('accepts %s where apps may have one', (uri) => {
    expect(checkRedirectUri(uri, 'with apps')).toBeNull();
    expect(hasAppScheme(uri)).toBe(true);
    expect(matchesRedirectUri([uri], uri)).toBe(true);
    expect(matchesRedirectUri([uri], `${uri}/more`)).toBe(false);
    expect(matchesRedirectUri(['com.example.other:/cb'], uri)).toBe(false);
    // No origin: CORS allows none, and no page links to it.
    expect(isAllowedOrigin([uri], 'null')).toBe(false);
    expect(startOf({ kind: 'native', redirectUris: [uri] })).toBeNull();
  });

  it.each([
    'javascript:alert(1)',
    'javascript:/alert(1)',
    'data:text/html,hi',
    'data:/text',
    'file:///etc/passwd',
    'intent://scan/#Intent;scheme=zxing;end',
    'myapp:/cb',
    'myapp://callback',
    'http://app.example.com/cb',
    'com.example.app:cb',
    'COM.example.app:/cb',
    'com..app:/cb',
    'com.example.app:/a/../cb',
    'com.example.app:/cb#fragment',
    'com.example.app:/*',
    'com.example.app:/c b',
    'com.example_app:/cb',
  ])('refuses %s', (uri) => {
    expect(checkRedirectUri(uri, 'with apps')).toEqual(expect.any(String));
  });
});

describe('comparing a redirect URI', () => {
  const registered = ['https://app.example.com/cb', 'http://localhost:3000/cb', 'http://127.0.0.1/cb?x=1'];

  it.each(['https://app.example.com/cb', 'http://localhost:3000/cb', 'http://127.0.0.1/cb?x=1'])(
    'accepts the registered %s',
    (uri) => {
      expect(matchesRedirectUri(registered, uri)).toBe(true);
    },
  );

  it.each(['http://localhost:49152/cb', 'http://localhost/cb', 'http://127.0.0.1:5000/cb?x=1'])(
    'accepts another port of a loopback address: %s (RFC 8252 §7.3)',
    (uri) => {
      expect(matchesRedirectUri(registered, uri)).toBe(true);
    },
  );

  it.each([
    'https://app.example.com/cb/',
    'https://app.example.com/cb?',
    'https://app.example.com/cb?added=1',
    'https://app.example.com/CB',
    'https://APP.example.com/cb',
    'https://app.example.com:443/cb',
    'https://app.example.com:8443/cb',
    'https://app.example.com.evil.tld/cb',
    'https://evil.tld/https://app.example.com/cb',
    'https://app.example.com@evil.tld/cb',
    'https://a@b@app.example.com/cb',
    'https://app.example.com/x/..;/cb',
    'https://app.example.com/x/../cb',
    'https://appXexample.com/cb',
    'http://localhost:3000/cb/more',
    'http://localhost:3000@evil.tld/cb',
    'http://localhost:99999/cb',
    'http://localhost:0/cb',
    'http://localhost:80:80/cb',
    'http://localhost.evil.tld/cb',
    'http://127.0.0.1:3000/cb',
    'http://127.0.0.1/cb?x=2',
    'https://localhost:3000/cb',
    'javascript:alert(1)',
    '',
  ])('refuses %j', (uri) => {
    expect(matchesRedirectUri(registered, uri)).toBe(false);
  });
});

describe('allowed origins', () => {
  const registered = ['https://app.example.com/cb', 'http://localhost:3000/cb'];

  it.each([
    ['https://app.example.com', true],
    ['http://localhost:3000', true],
    ['http://localhost:5173', true],
    ['https://app.example.com:444', false],
    ['http://app.example.com', false],
    ['https://app.example.com.evil.tld', false],
    ['https://evil.tld', false],
    ['http://localhost:5173/cb', false],
    ['http://127.0.0.1:3000', false],
    ['null', false],
    ['', false],
  ])('%j: %s', (origin, allowed) => {
    expect(isAllowedOrigin(registered, origin)).toBe(allowed);
  });
});

describe('the start of an application', () => {
  const [app, local] = ['https://app.example.com', 'http://localhost:5173'];
  it.each([
    [`${app}/`, 'web-server', [`${app}/cb`, `${app}/other/cb`]],
    [`${app}/`, 'single-page', [`${local}/cb`, `${app}/cb`]],
    [`${local}/`, null, [`${local}/cb`]],
    [null, null, [`${app}/cb`, 'https://other.example.com/cb']],
    [null, 'native', ['http://127.0.0.1/cb']],
    [null, null, ['javascript:alert(1)']],
    [null, null, []],
  ] as const)('is %s: %s, %s', (start, kind, redirectUris) => {
    expect(startOf({ kind, redirectUris: [...redirectUris] })).toBe(start);
  });

  it('is its start address, if it has one', () => {
    expect(startOf({ startUri: `${app}/home`, redirectUris: [`${local}/cb`] })).toBe(`${app}/home`);
    expect(startOf({ startUri: 'javascript:alert(1)', redirectUris: [`${app}/cb`] })).toBeNull();
  });
});
