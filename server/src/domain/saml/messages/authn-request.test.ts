import { describe, expect, test } from 'vitest';
import { sample } from '../../../../test/saml.ts';
import { nameIdFormats, ns } from '../names.ts';
import { read } from '../xml/reader.ts';
import { checkFresh, newAuthnRequest, readAuthnRequest } from './authn-request.ts';

const seconds = (count: number) => new Date(sample.at.getTime() + count * 1000);

describe('requests', () => {
  const asked = {
    ...{ id: '_r', issuer: 'https://sp.example', at: sample.at },
    ...{ destination: 'https://idp.example/sso', acsUrl: 'https://sp.example/acs' },
  };
  const { xml } = newAuthnRequest(asked);
  const requested = (from: string | RegExp, to: string) => {
    expect(xml).toMatch(from);
    return readAuthnRequest(read(xml.replace(from, to)));
  };
  const context = (comparison: string) =>
    `<samlp:RequestedAuthnContext${comparison}><saml:AuthnContextClassRef>urn:a</saml:AuthnContextClassRef><saml:AuthnContextClassRef>urn:b</saml:AuthnContextClassRef></samlp:RequestedAuthnContext></samlp:AuthnRequest>`;
  const end = '</samlp:AuthnRequest>';

  test('reads the request that it writes', () => {
    const read1 = readAuthnRequest(
      read(newAuthnRequest({ ...asked, forceAuthn: true, nameIdFormat: nameIdFormats.email }).xml),
    );
    expect(read1).toEqual({
      ...{ id: '_r', issuer: asked.issuer, issueInstant: sample.at, destination: asked.destination },
      ...{ acsUrl: asked.acsUrl, acsIndex: undefined, forceAuthn: true, isPassive: false },
      ...{ nameIdFormat: nameIdFormats.email, contextClasses: [], comparison: 'exact' },
    });
    expect(readAuthnRequest(read(xml))).toMatchObject({ forceAuthn: false, nameIdFormat: undefined });
    expect(newAuthnRequest({ ...asked, nameIdFormat: 'urn:f' }).xml).toContain(
      '<samlp:NameIDPolicy Format="urn:f" AllowCreate="true"/>',
    );
  });

  test('its booleans are words or digits', () => {
    for (const [value, isPassive] of [
      ['true', true],
      ['1', true],
      ['false', false],
      ['0', false],
    ] as const) {
      expect(requested(' ForceAuthn=', ` IsPassive="${value}" ForceAuthn=`).isPassive).toBe(isPassive);
    }
  });

  test('contexts are read in their order, and compared exactly unless it says otherwise', () => {
    expect(requested(end, context('')).contextClasses).toEqual(['urn:a', 'urn:b']);
    for (const comparison of ['exact', 'minimum', 'maximum', 'better'] as const) {
      expect(requested(end, context(` Comparison="${comparison}"`)).comparison).toBe(comparison);
    }
    expect(requested(end, context('')).comparison).toBe('exact');
  });

  test('an ACS index has at most 5 digits', () => {
    const url = /AssertionConsumerServiceURL="[^"]*"/;
    expect(requested(url, 'AssertionConsumerServiceIndex="65535"').acsIndex).toBe(65_535);
    for (const index of ['', '-1', '1.5', '100000', 'x1', '1x']) {
      expect(() => requested(url, `AssertionConsumerServiceIndex="${index}"`)).toThrow('malformed');
    }
  });

  test('an ID has at most 128 characters, and an Issuer 1024', () => {
    const [id, issuer] = ['a'.repeat(128), 'a'.repeat(1024)];
    expect(requested('"_r"', `"${id}"`).id).toBe(id);
    for (const bad of [`${id}a`, '1a', 'a b', '', '_r\u00e4']) {
      expect(() => requested('"_r"', `"${bad}"`)).toThrow('malformed: ID');
    }
    expect(requested(`>${asked.issuer}<`, `>${issuer}<`).issuer).toBe(issuer);
    for (const bad of [`${issuer}a`, '', '  ']) {
      expect(() => requested(`>${asked.issuer}<`, `>${bad}<`)).toThrow('malformed: Issuer');
    }
    expect(() => requested(' Version="2.0"', '')).toThrow('wrong-message: Version');
    expect(() => requested(' Version="2.0"', ' Version="1.1"')).toThrow('wrong-message: Version');
  });

  test('the same name in another namespace is another message', () => {
    expect(() => requested(`xmlns:samlp="${ns.protocol}"`, 'xmlns:samlp="urn:x"')).toThrow('wrong-message');
  });

  test('is fresh to the second, with 60 s for the clocks', () => {
    const fresh = (now: Date, notOnOrAfter?: Date) => () =>
      checkFresh(
        { issueInstant: sample.at, notOnOrAfter, destination: undefined },
        { now, endpoint: 'https://idp.example/sso', maxAgeSeconds: 300 },
      );
    expect(fresh(seconds(-60))).not.toThrow();
    expect(fresh(seconds(-61))).toThrow('not-yet-valid: IssueInstant');
    expect(fresh(seconds(359))).not.toThrow();
    expect(fresh(seconds(360))).toThrow('expired: IssueInstant');
    expect(fresh(seconds(60), seconds(1))).not.toThrow();
    expect(fresh(seconds(61), seconds(1))).toThrow('expired: NotOnOrAfter');
  });
});
