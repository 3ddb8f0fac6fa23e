import { describe, expect, test } from 'vitest';
import { resignedBy, rsaKey, sample, sampleResponse } from '../../../../test/saml.ts';
import { nameIdFormats, ns } from '../names.ts';
import { attribute, descendants } from '../xml/element.ts';
import { read } from '../xml/reader.ts';
import { readAnswer } from './answer.ts';
import { newErrorResponse } from './response.ts';

const idp = rsaKey();
const genuine = await sampleResponse(idp);
const seconds = (count: number) => new Date(sample.at.getTime() + count * 1000);
const written = (count: number) => seconds(count).toISOString();

const answerOf = (xml: string) =>
  readAnswer(read(xml), {
    ...{ keys: [idp.publicKey], issuer: sample.issuer, audience: sample.audience },
    ...{ recipient: sample.recipient, requestId: sample.requestId, now: sample.at },
  });
/** The answer to a request whose assertion is changed before it is signed. */
const changed = async (from: string | RegExp, to: string) => answerOf(await resignedBy(idp, genuine, from, to));

describe('an answer', () => {
  test('has all that the assertion says', async () => {
    expect(await changed(' SessionIndex=', ` SessionNotOnOrAfter="${written(3600)}" SessionIndex=`)).toEqual({
      assertionId: '_assertion1',
      acceptableUntil: seconds(360),
      subject: { format: nameIdFormats.persistent, value: 'ada' },
      authTime: sample.at,
      contextClass: 'urn:oasis:names:tc:SAML:2.0:ac:classes:X509',
      sessionIndex: '_session1',
      sessionUntil: seconds(3600),
      attributes: [{ name: 'email', values: ['ada@example.com'] }],
    });
    const without = await changed(/ SessionIndex="[^"]*"/, '');
    expect([without.sessionIndex, without.sessionUntil]).toEqual([undefined, undefined]);
  });

  test('a NameID without Format is unspecified', async () => {
    expect((await changed(/NameID Format="[^"]*"/, 'NameID')).subject.format).toBe(nameIdFormats.unspecified);
  });

  test('255 characters are accepted in a NameID and its Format', async () => {
    const [value, format] = ['a'.repeat(255), `urn:${'a'.repeat(251)}`];
    expect((await changed('>ada<', `>${value}<`)).subject.value).toBe(value);
    expect((await changed(/NameID Format="[^"]*"/, `NameID Format="${format}"`)).subject.format).toBe(format);
  });

  test('a response whose Issuer is another one is refused, and may have none', () => {
    const issuer = `<saml:Issuer>${sample.issuer}</saml:Issuer>`;
    expect(() => answerOf(genuine.replace(issuer, '<saml:Issuer>https://evil.example</saml:Issuer>'))).toThrow(
      'issuer-mismatch: Issuer of the Response',
    );
    expect(answerOf(genuine.replace(issuer, '')).subject.value).toBe('ada');
  });

  test('InResponseTo of the response must be that of the request', () => {
    const own = ` InResponseTo="${sample.requestId}"><saml:Issuer>`;
    expect(genuine).toContain(own);
    for (const other of ['><saml:Issuer>', ' InResponseTo="_q"><saml:Issuer>']) {
      expect(() => answerOf(genuine.replace(own, other))).toThrow('request-mismatch: InResponseTo of the Response');
    }
  });

  test.each([
    ['another request in the confirmation', /InResponseTo="[^"]*"\/>/, 'InResponseTo="_q"/>', 'request-mismatch'],
    ['no request in the confirmation', / InResponseTo="[^"]*"\/>/, '/>', 'request-mismatch'],
    ['a start of the confirmation', ' Recipient=', ` NotBefore="${written(0)}" Recipient=`, 'malformed'],
    ['conditions that begin later', /NotBefore="[^"]*"/, `NotBefore="${written(61)}"`, 'not-yet-valid'],
    [
      'conditions that have ended',
      /NotOnOrAfter="[^"]*"><saml:Aud/,
      `NotOnOrAfter="${written(-60)}"><saml:Aud`,
      'expired',
    ],
    [
      'conditions that end in more than a day',
      /NotOnOrAfter="[^"]*"><saml:Aud/,
      `NotOnOrAfter="${written(86_401)}"><saml:Aud`,
      'not-yet-valid',
    ],
    ['a sign-in later than clocks differ', /AuthnInstant="[^"]*"/, `AuthnInstant="${written(61)}"`, 'not-yet-valid'],
    [
      'a session that ended as long ago as clocks differ',
      ' SessionIndex=',
      ` SessionNotOnOrAfter="${written(-60)}" SessionIndex=`,
      'expired',
    ],
    ['no Method', / Method="[^"]*"/, '', 'subject-unusable'],
    ['no AuthnContext', /<saml:AuthnContext>.*<\/saml:AuthnContext>/, '', 'malformed'],
    ['a sign-in without a time', /AuthnInstant="[^"]*"/, 'AuthnInstant="now"', 'malformed'],
  ])('refused: %s', async (_, from, to, reason) => {
    await expect(changed(from, to)).rejects.toThrow(reason);
  });

  test.each([
    ['conditions that begin within the skew', /NotBefore="[^"]*"/, `NotBefore="${written(60)}"`],
    ['conditions without times', /<saml:Conditions [^>]*>/, '<saml:Conditions>'],
    ['conditions that end in a day', /NotOnOrAfter="[^"]*"><saml:Aud/, `NotOnOrAfter="${written(86_400)}"><saml:Aud`],
    [
      'conditions that ended within the skew',
      /NotOnOrAfter="[^"]*"><saml:Aud/,
      `NotOnOrAfter="${written(-59)}"><saml:Aud`,
    ],
    ['a sign-in within the skew', /AuthnInstant="[^"]*"/, `AuthnInstant="${written(60)}"`],
    ['a session that ended within the skew', ' SessionIndex=', ` SessionNotOnOrAfter="${written(-59)}" SessionIndex=`],
    ['another Audience besides ours', '<saml:Audience>', '<saml:Audience>urn:x</saml:Audience><saml:Audience>'],
    ['no context class', /<saml:AuthnContextClassRef>.*<\/saml:AuthnContextClassRef>/, ''],
  ])('accepted: %s', async (_, from, to) => {
    expect((await changed(from, to)).subject.value).toBe('ada');
  });

  test('an attribute has all its values, and attributes without values are not written', async () => {
    const attributes = [
      { name: 'urn:oid:1.2', values: ['a', 'b'] },
      { name: 'email', values: ['c'] },
      { name: 'none', values: [] },
    ];
    const xml = await sampleResponse(idp, { assertion: { attributes } });
    expect(answerOf(xml).attributes).toEqual(attributes.slice(0, 2));
    expect(xml).toContain('Name="urn:oid:1.2" NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:uri"');
    expect(xml).toContain('Name="email" NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:basic"');
    const none = await sampleResponse(idp, { assertion: { attributes: attributes.slice(2) } });
    expect(none).not.toContain('AttributeStatement');
    expect(answerOf(none).attributes).toEqual([]);
  });

  test('a refusal names both codes and the reason', async () => {
    const envelope = { id: '_e', issuer: sample.issuer, at: sample.at, destination: sample.recipient };
    const error = { code: 'requester', detail: 'noPassive', message: 'no session' } as const;
    const { xml } = await newErrorResponse({ ...envelope, inResponseTo: undefined }, error, idp);
    const codes = descendants(read(xml), ns.protocol, 'StatusCode').map((one) => attribute(one, 'Value'));
    const status = 'urn:oasis:names:tc:SAML:2.0:status:';
    expect(codes).toEqual([`${status}Requester`, `${status}NoPassive`]);
    expect(xml).toContain('<samlp:StatusMessage>no session</samlp:StatusMessage>');
    expect(xml).not.toContain('InResponseTo');
    expect(() => answerOf(genuine.replace('status:Success', 'status:Responder'))).toThrow(
      'status-not-success: Responder',
    );
  });
});
