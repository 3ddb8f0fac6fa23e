/** Why a SAML message is refused. None of them contains a part of the message. */
export type SamlReason =
  | 'too-large'
  | 'malformed'
  | 'forbidden-markup'
  | 'wrong-message'
  | 'unsigned'
  | 'signature-invalid'
  | 'algorithm-refused'
  | 'decryption-failed'
  | 'issuer-mismatch'
  | 'destination-mismatch'
  | 'recipient-mismatch'
  | 'audience-mismatch'
  | 'request-mismatch'
  | 'not-yet-valid'
  | 'expired'
  | 'not-one-assertion'
  | 'subject-unusable'
  | 'status-not-success';

/** A message that is refused. `detail` names the element or rule, for the log and the console. */
export class SamlError extends Error {
  constructor(
    readonly reason: SamlReason,
    readonly detail: string,
  ) {
    super(`${reason}: ${detail}`);
    this.name = 'SamlError';
  }
}
