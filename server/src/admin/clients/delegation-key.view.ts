import { ObjectType } from 'type-graphql';
import { Access, ofClient } from '../api/access.ts';
import { DelegationPartyEnum } from '../api/enums.ts';
import { fields, id, nullable, oneOf, text, time } from '../api/fields.ts';

@Access('project_viewer', ofClient, 'clients:read')
@ObjectType('DelegationKey', {
  description: "One side's Ed25519 and X25519 keys for a client's delegation. Only public keys are shown.",
})
export class DelegationKeyView extends fields({
  id: id(),
  party: oneOf(DelegationPartyEnum),
  signingKid: text('RFC 7638 thumbprint of the Ed25519 key.'),
  encryptionKid: text('RFC 7638 thumbprint of the X25519 key.'),
  signingPublicPem: text('Ed25519, PEM.'),
  encryptionPublicPem: text('X25519, PEM.'),
  createdAt: time(),
  expiresAt: nullable(time('Absent until replaced by newer keys.')),
}) {}
