import { ObjectType } from 'type-graphql';
import {
  domainProofs,
  organizationDomainFaults,
  organizationDomainStates,
} from '../../domain/organizations/organization-domain.entity.ts';
import { Access, ofProject } from '../api/access.ts';
import { fields, id, nullable, object, oneOf, text, time } from '../api/fields.ts';
import { enumOf } from '../api/resource-types.ts';

const StateEnum = enumOf({
  name: 'OrganizationDomainState',
  says: 'Whether a mail domain belongs to its organization.',
  values: organizationDomainStates,
});

const FaultEnum = enumOf({
  name: 'OrganizationDomainFault',
  says: 'Result of a check: no record with the value, no response from the name servers, or another organization holds the domain.',
  values: organizationDomainFaults,
});

const ProofEnum = enumOf({
  name: 'OrganizationDomainProof',
  says: 'What proved a domain: its TXT record, or an admin with a reason.',
  values: domainProofs,
});

@Access('project_viewer', ofProject, 'users:read')
@ObjectType('OrganizationDomain', { description: 'A mail domain of an organization, without effect until verified.' })
export class OrganizationDomainView extends fields({
  id: id(),
  domain: text('In ASCII (Punycode) and lower case.'),
  state: oneOf(StateEnum),
  provedBy: nullable(oneOf(ProofEnum)),
  reason: nullable(text('Of the admin who verified it.')),
  fault: nullable(oneOf(FaultEnum, 'The fault that the last check found.')),
  createdAt: time(),
  checkedAt: nullable(time()),
  verifiedAt: nullable(time()),
  failingSince: nullable(time('Time of the first failed check of a verified domain; null: the last one succeeded.')),
}) {}

@Access('inherited')
@ObjectType({ description: 'A TXT record.' })
export class DnsRecord extends fields({ name: text(), value: text() }) {}

@Access('inherited')
@ObjectType({ description: 'A new mail domain, and the record that proves it.' })
export class AddedOrganizationDomain extends fields({
  domain: object(OrganizationDomainView),
  record: object(DnsRecord),
}) {}
