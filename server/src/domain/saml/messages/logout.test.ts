import { describe, expect, test } from 'vitest';
import { sample } from '../../../../test/saml.ts';
import { ns } from '../names.ts';
import { read } from '../xml/reader.ts';
import { newLogoutRequest, newLogoutResponse, readLogoutRequest, readLogoutResponse } from './logout.ts';

const inAMinute = new Date(sample.at.getTime() + 60_000);

describe('logout', () => {
  const envelope = { id: '_l', issuer: 'https://idp.example', at: sample.at, destination: 'https://sp.example/slo' };
  const request = newLogoutRequest(envelope, {
    nameId: { format: 'urn:f', value: 'ada' },
    sessionIndexes: ['_s', '_t'],
  }).xml;
  const response = newLogoutResponse({ ...envelope, inResponseTo: '_q' }).xml;
  const foreign = (xml: string) => read(xml.replace(`xmlns:samlp="${ns.protocol}"`, 'xmlns:samlp="urn:x"'));

  test('reads all of a request', () => {
    expect(
      readLogoutRequest(read(request.replace(' Version=', ` NotOnOrAfter="${inAMinute.toISOString()}" Version=`))),
    ).toEqual({
      ...{ id: '_l', issuer: envelope.issuer, issueInstant: sample.at, notOnOrAfter: inAMinute },
      ...{ destination: envelope.destination, nameId: { format: 'urn:f', value: 'ada' }, sessionIndexes: ['_s', '_t'] },
    });
    expect(readLogoutRequest(read(request)).notOnOrAfter).toBeUndefined();
  });

  test.each([
    ['another message', response, 'wrong-message: not a LogoutRequest'],
    ['no NameID', request.replace(/<saml:NameID.*<\/saml:NameID>/, ''), 'malformed'],
    ['no ID', request.replace(' ID="_l"', ''), 'malformed: ID'],
    ['another version', request.replace('"2.0"', '"1.1"'), 'wrong-message: Version'],
    ['a wrong end', request.replace(' Version=', ' NotOnOrAfter="x" Version='), 'malformed: NotOnOrAfter'],
  ])('a request is refused: %s', (_, xml, reason) => {
    expect(() => readLogoutRequest(read(xml))).toThrow(reason);
  });

  test.each([
    ['another message', request, 'wrong-message: not a LogoutResponse'],
    ['no Status', response.replace(/<samlp:Status>.*<\/samlp:Status>/, ''), 'malformed'],
    ['no ID', response.replace(' ID="_l"', ''), 'malformed: ID'],
    ['another version', response.replace('"2.0"', '"1.1"'), 'wrong-message: Version'],
  ])('a response is refused: %s', (_, xml, reason) => {
    expect(() => readLogoutResponse(read(xml))).toThrow(reason);
  });

  test('the same names in another namespace are other messages', () => {
    expect(() => readLogoutRequest(foreign(request))).toThrow('wrong-message');
    expect(() => readLogoutResponse(foreign(response))).toThrow('wrong-message');
  });

  test('a response without a status code is no success', () => {
    expect(readLogoutResponse(read(response)).isSuccess).toBe(true);
    expect(readLogoutResponse(read(response.replace(/<samlp:StatusCode .*<\/samlp:StatusCode>/, ''))).isSuccess).toBe(
      false,
    );
  });
});
