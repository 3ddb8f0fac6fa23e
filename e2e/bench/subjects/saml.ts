import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import type { Workload } from '../harness/measure.ts';
import type { BenchedLatchkey } from './latchkey.ts';
import type { Relying } from './relying.ts';

const acsUrl = 'https://wiki.example.com/saml/acs';
const entityId = 'https://wiki.example.com/saml/metadata';

/** SAML request by redirect with a live session → the page that posts the signed response. */
export async function samlAnswers({ api }: BenchedLatchkey, projectId: string, { cookie }: Relying): Promise<Workload> {
  await api.createClient({ projectId, name: 'Wiki', samlEntityId: entityId, redirectUris: [acsUrl] });
  const endpoint = `${await api.issuerOf(projectId)}/saml/sso`;
  const { pathname } = new URL(endpoint);
  const request = () =>
    `<p:AuthnRequest xmlns:p="urn:oasis:names:tc:SAML:2.0:protocol" ID="_${randomBytes(16).toString('hex')}" Version="2.0" IssueInstant="${new Date().toISOString()}" Destination="${endpoint}" AssertionConsumerServiceURL="${acsUrl}"><a:Issuer xmlns:a="urn:oasis:names:tc:SAML:2.0:assertion">${entityId}</a:Issuer></p:AuthnRequest>`;
  const operation: Workload['operation'] = async (connection, worker) => {
    const query = new URLSearchParams({ SAMLRequest: deflateRawSync(request()).toString('base64') });
    const { status, body } = await connection.ask({
      path: `${pathname}?${query}`,
      headers: { Cookie: cookie(worker) },
    });
    const response = /name="SAMLResponse" value="([^"]+)"/.exec(body)?.[1] ?? '';
    if (!Buffer.from(response, 'base64').includes('Assertion')) throw new Error(`no assertion: ${status} ${body}`);
  };
  return { operation };
}
