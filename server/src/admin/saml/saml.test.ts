import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { Factories } from '../../../test/factories.ts';
import { rsaKey } from '../../../test/saml.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import { pemOf } from '../../domain/saml/security/certificate.ts';

let harness: AdminHarness;
let project: Project;
const key = rsaKey();
const certificate = pemOf(key.certificate);
const weak = pemOf(rsaKey(1024).certificate);

beforeAll(async () => {
  harness = await openAdminHarness();
});
afterAll(() => harness.close());
beforeEach(async () => {
  project = await new Factories(harness.services, harness.clock).project({ name: 'Acme' });
});

const sp = 'https://sp.example.com/metadata';
const create = (input: object, headers?: Record<string, string>) =>
  harness.call(
    `mutation ($input: CreateClientInput!) { createClient(input: $input) { client { id samlEntityId samlNameId samlSigned samlCertificates samlRequestsSigned } } }`,
    {
      input: {
        projectId: project.id,
        name: 'Wiki',
        samlEntityId: sp,
        redirectUris: ['https://sp.example.com/acs'],
        ...input,
      },
    },
    headers,
  );
const update = (id: string, input: object) =>
  harness.call('mutation ($input: UpdateClientInput!) { updateClient(input: $input) { id samlEntityId } }', {
    input: { id, ...input },
  });

it('creates an application with an entity ID, and its defaults', async () => {
  const { data } = await create({});
  expect(data.createClient.client).toMatchObject({
    ...{ samlEntityId: sp, samlNameId: 'PERSISTENT', samlSigned: 'BOTH' },
    ...{ samlCertificates: [], samlRequestsSigned: false },
  });
});

it.each([
  ['samlEntityId', { samlEntityId: 'with space' }],
  ['samlEntityId', { samlEntityId: 'x'.repeat(1025) }],
  ['samlCertificates[0]', { samlCertificates: ['hello'] }],
  ['samlCertificates[0]', { samlCertificates: [weak] }],
  ['samlCertificates', { samlRequestsSigned: true }],
  ['samlCertificates', { samlLogoutUri: 'https://sp.example.com/slo' }],
  ['samlLogoutSoapUri', { samlLogoutSoapUri: 'https://10.0.0.1/soap' }],
  ['samlLogoutUri', { samlLogoutResponseUri: 'https://sp.example.com/return' }],
  ['samlLogoutUri', { samlLogoutUri: 'http://sp.example.com/slo', samlCertificates: [certificate] }],
  ['samlEncryptionCertificate', { samlEncryptionCertificate: 'hello' }],
  ['redirectUris[0]', { redirectUris: ['com.example.app:/acs'] }],
  ['redirectUris[0]', { redirectUris: ['https://sp.example.com/*'] }],
  ['tokenEndpointAuthMethod', { tokenEndpointAuthMethod: 'CLIENT_SECRET_BASIC' }],
  ['grantTypes', { grantTypes: ['AUTHORIZATION_CODE', 'REFRESH_TOKEN'] }],
  ['thirdParty', { thirdParty: true }],
  ['backchannelLogoutUri', { backchannelLogoutUri: 'https://sp.example.com/logout' }],
])('refuses, naming %s: %j', async (field, input) => {
  const { code, errors } = await create(input);
  expect(code).toBe('invalid');
  expect(JSON.stringify(errors)).toContain(field);
});

it('has one application for each entity ID of a project', async () => {
  expect((await create({})).code).toBeUndefined();
  expect((await create({})).code).toBe('taken');
  const { data } = await create({ samlEntityId: `${sp}/2` });
  expect((await update(data.createClient.client.id, { samlEntityId: sp })).code).toBe('taken');
  project = await new Factories(harness.services, harness.clock).project({ name: 'Other' });
  expect((await create({})).code).toBeUndefined();
});

it('of 10 at once with one entity ID, creates one', async () => {
  const all = await Promise.all(Array.from({ length: 10 }, () => create({})));
  expect(all.filter(({ code }) => code === undefined)).toHaveLength(1);
  expect(new Set(all.map(({ code }) => code))).toEqual(new Set([undefined, 'taken']));
});

it('keeps the kind of an application', async () => {
  const { client } = await new Factories(harness.services, harness.clock).client(project);
  expect((await update(client.id, { samlEntityId: sp })).code).toBe('invalid');
  const { data } = await create({});
  const { id } = data.createClient.client;
  expect((await update(id, { samlEntityId: null })).code).toBe('invalid');
  expect((await update(id, { samlEntityId: `${sp}/new` })).data.updateClient.samlEntityId).toBe(`${sp}/new`);
});

it('shows the values of the identity provider, and rotates its certificate', async () => {
  const shown = 'entityId ssoUrl sloUrl certificates { id pem fingerprint expiresAt signsFrom publishedUntil }';
  const read = () => harness.call(`{ samlIdentityProvider(projectId: "${project.id}") { ${shown} } }`);
  const { data } = await read();
  const issuer = `${harness.issuer}/p/${project.slug}`;
  expect(data.samlIdentityProvider).toMatchObject({
    ...{ entityId: `${issuer}/saml/metadata`, ssoUrl: `${issuer}/saml/sso`, sloUrl: `${issuer}/saml/slo` },
    certificates: [{ publishedUntil: null }],
  });
  const rotated = await harness.call(`mutation { rotateSamlKey(projectId: "${project.id}") { certificates { id } } }`);
  const [signing, next] = rotated.data.rotateSamlKey.certificates;
  expect(signing.id).toBe(data.samlIdentityProvider.certificates[0].id);
  expect(next.id).not.toBe(signing.id);
  const viewer = await harness.tokenOf('project_viewer', project.id);
  const denied = await harness.call(`mutation { rotateSamlKey(projectId: "${project.id}") { entityId } }`, {}, viewer);
  expect(denied.code).toBe('forbidden');
});

it('reads one document: the text, or an address that may be called', async () => {
  const read = (given: string) =>
    harness.call(`{ samlServiceProvider(projectId: "${project.id}"${given}) { samlEntityId } }`);
  for (const given of [
    '',
    ', metadata: "x", metadataUrl: "https://sp.example.com"',
    ', metadataUrl: "https://127.0.0.1/sp"',
  ])
    expect((await read(given)).code).toBe('invalid');
});

it('reads the metadata of an application, and says what is wrong with others', async () => {
  const read = (metadata: string) =>
    harness.call(
      `query ($metadata: String!) { samlServiceProvider(projectId: "${project.id}", metadata: $metadata) {
        samlEntityId redirectUris samlCertificates samlEncryptionCertificate samlRequestsSigned
        samlLogoutUri samlLogoutResponseUri samlLogoutSoapUri } }`,
      { metadata },
    );
  const body = Buffer.from(key.certificate).toString('base64');
  const xml = `<!-- made by a product --><EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${sp}">
    <SPSSODescriptor AuthnRequestsSigned="true" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
      <KeyDescriptor><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${body}</X509Certificate></X509Data></KeyInfo></KeyDescriptor>
      <SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://sp.example.com/slo" ResponseLocation="https://sp.example.com/return"/>
      <SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:SOAP" Location="https://sp.example.com/soap"/>
      <AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://sp.example.com/2" index="2"/>
      <AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://sp.example.com/1" index="1"/>
    </SPSSODescriptor></EntityDescriptor>`;
  const { data } = await read(xml);
  expect(data.samlServiceProvider).toEqual({
    samlEntityId: sp,
    redirectUris: ['https://sp.example.com/1', 'https://sp.example.com/2'],
    samlCertificates: [certificate],
    samlEncryptionCertificate: certificate,
    samlRequestsSigned: true,
    samlLogoutUri: 'https://sp.example.com/slo',
    samlLogoutResponseUri: 'https://sp.example.com/return',
    samlLogoutSoapUri: 'https://sp.example.com/soap',
  });
  for (const address of ['https://10.0.0.1/soap', 'http://sp.example.com/soap']) {
    const inside = await read(xml.replace('https://sp.example.com/soap', address));
    expect(inside.data.samlServiceProvider.samlLogoutSoapUri).toBe(null);
  }
  expect((await create(data.samlServiceProvider)).code).toBeUndefined();
  for (const broken of ['', '<a/>', `<!DOCTYPE a>${xml}`, xml.replace('SPSSODescriptor', 'IDPSSODescriptor')]) {
    expect((await read(broken)).code).toBe('invalid');
  }
});
