import { InputType } from 'type-graphql';
import { id, inputFields, int, nullable, text } from '../api/fields.ts';

@InputType()
export class RegisterDelegationKeysInput extends inputFields({
  clientId: id(),
  signingKey: text("The client's Ed25519 public key, PEM."),
  encryptionKey: text("The client's X25519 public key, PEM."),
  overlapSeconds: nullable(int('Seconds for which the previous keys stay valid; default: one week.')),
}) {}

@InputType()
export class RotateDelegationKeysInput extends inputFields({
  clientId: id(),
  overlapSeconds: nullable(int('Seconds for which the previous keys stay valid; default: one week.')),
}) {}
