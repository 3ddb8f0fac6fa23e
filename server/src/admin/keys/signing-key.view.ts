import { ObjectType } from 'type-graphql';
import { Access, ofInstance } from '../api/access.ts';
import { SigningAlgorithmEnum } from '../api/enums.ts';
import { fields, id, nullable, oneOf, time } from '../api/fields.ts';

@Access('owner', ofInstance)
@ObjectType('SigningKey', { description: 'A signing key of the issuer, without its private key.' })
export class SigningKeyView extends fields({
  id: id('`kid`'),
  alg: oneOf(SigningAlgorithmEnum),
  createdAt: time(),
  signsFrom: time('Published earlier, so that relying parties have cached it.'),
  signsUntil: nullable(time()),
  publishedUntil: nullable(time()),
  withdrawnAt: nullable(time('Revoked in an emergency: its tokens are refused since then.')),
}) {}
