import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A passkey as a browser holds it: discoverable, ES256, user verified, without attestation (WebAuthn Level 3). */
export class SoftPasskey {
  readonly #origin: string;
  readonly #id = randomBytes(32);
  readonly #privateKey: KeyObject;
  readonly #publicKey: { x: Buffer; y: Buffer };
  #rpId = '';
  #userHandle = '';

  /** @param origin the application's page */
  constructor(origin: string) {
    this.#origin = origin;
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { x = '', y = '' } = pair.publicKey.export({ format: 'jwk' });
    this.#privateKey = pair.privateKey;
    this.#publicKey = { x: Buffer.from(x, 'base64url'), y: Buffer.from(y, 'base64url') };
  }

  /** `RegistrationResponseJSON` for the options of the server. */
  create(options: { challenge: string; rp: { id: string }; user: { id: string } }): object {
    this.#rpId = options.rp.id;
    this.#userHandle = options.user.id;
    // COSE_Key: kty EC2, alg ES256, crv P-256, x, y (RFC 9053 §2.1); CBOR by hand, as its shape never varies.
    const { x, y } = this.#publicKey;
    const cose = [hex('a5010203262001215820'), x, hex('225820'), y];
    const attested = [Buffer.alloc(16), hex('0020'), this.#id, ...cose];
    const authData = Buffer.concat([this.#authenticatorData(0x45), ...attested]);
    const attestationObject = Buffer.concat([
      hex('a363666d74646e6f6e656761747453746d74a0686175746844617461'),
      hex(`58${authData.length.toString(16)}`),
      authData,
    ]);
    return this.#json({
      clientDataJSON: text(this.#clientData('webauthn.create', options.challenge)),
      attestationObject: text(attestationObject),
      transports: ['internal'],
    });
  }

  /** `AuthenticationResponseJSON` for the options of the server. */
  get(options: { challenge: string }): object {
    const authData = this.#authenticatorData(0x05);
    const clientData = this.#clientData('webauthn.get', options.challenge);
    const signed = Buffer.concat([authData, sha256(clientData)]);
    return this.#json({
      clientDataJSON: text(clientData),
      authenticatorData: text(authData),
      signature: text(sign('sha256', signed, this.#privateKey)),
      userHandle: this.#userHandle,
    });
  }

  #json(response: object): object {
    const id = text(this.#id);
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
  }

  #clientData(type: string, challenge: string): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin: this.#origin, crossOrigin: false }));
  }

  /** Its hash of the RP ID, flags and a counter of 0. */
  #authenticatorData(flags: number): Buffer {
    return Buffer.concat([sha256(this.#rpId), Buffer.from([flags]), Buffer.alloc(4)]);
  }
}

const hex = (digits: string) => Buffer.from(digits, 'hex');
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();
